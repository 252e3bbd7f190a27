import BookModel
import BookSync
import Foundation
import LibraryFiles
import Logging
import NIOSSL
import Synchronization

/// What the server proves itself with over TLS. The files are read again when they change, so that a certificate which is
/// renewed counts without a restart; what cannot be read then leaves the old one in use.
package final class ServerCertificate: Sendable {
    /// Of PEM files.
    package typealias Paths = (certificate: String, key: String)

    private struct State {
        var context: NIOSSLContext
        var versions: [Date?]
    }

    private let paths: Paths
    private let logger: Logger
    private let state: Mutex<State>

    private init(_ paths: Paths, _ logger: Logger, _ state: State) {
        self.paths = paths
        self.logger = logger
        self.state = Mutex(state)
    }

    /// - Throws: ``Failure`` of kind `configuration` where the files are no certificate with its key.
    package static func read(_ paths: Paths, logger: Logger) async throws -> ServerCertificate {
        let state = try await runBlocking { try read(paths) }
        return ServerCertificate(paths, logger, state)
    }

    /// With what new connections are made.
    var context: NIOSSLContext { state.withLock { $0.context } }

    /// Reads the files again where they changed.
    func renew() async {
        let known = state.withLock { $0.versions }
        do {
            let paths = paths
            let read = try await runBlocking { Self.versions(of: paths) == known ? nil : try Self.read(paths) }
            guard let read else { return }
            state.withLock { $0 = read }
            logger.notice("the certificate is a new one", metadata: ["file": "\(paths.certificate)"])
        } catch {
            // It is looked at again; certificate and key may be written one after the other.
            logger.warning("the certificate is not read again", metadata: ["why": "\(error)"])
        }
    }

    private static func read(_ paths: Paths) throws -> State {
        let versions = versions(of: paths)
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(paths.certificate).map(NIOSSLCertificateSource.certificate)
            guard !chain.isEmpty else { throw NIOSSLError.failedToLoadCertificate }
            let key = NIOSSLPrivateKeySource.privateKey(try NIOSSLPrivateKey(file: paths.key, format: .pem))
            var configuration = TLSConfiguration.makeServerConfiguration(certificateChain: chain, privateKey: key)
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            return State(context: try NIOSSLContext(configuration: configuration), versions: versions)
        } catch {
            throw Failure(
                .configuration, disposition: .stop, what: "the shelf cannot be served over HTTPS",
                why: "\(paths.certificate) and \(paths.key) are no certificate with its key, or cannot be read",
                remedy: "name PEM files in serve.tls")
        }
    }

    private static func versions(of paths: Paths) -> [Date?] {
        [paths.certificate, paths.key].map { path in
            // What is not there has no version.
            (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
        }
    }
}
