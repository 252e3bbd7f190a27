import BookModel
import Foundation
import NIOCore
import NIOPosix

/// The path of a Unix socket. Listening there replaces what the path names, so that is checked first.
enum SocketPath {
    /// - Throws: ``Failure`` of kind `inputOutput` when something that is no socket stands there, or somebody listens.
    static func requireFree(_ path: String) async throws {
        func refuse(_ why: Message) -> Failure {
            Failure(
                .inputOutput, disposition: .stop, what: "cannot listen on unix:\(path)", why: why,
                remedy: "choose another path with --listen")
        }
        let kind: FileAttributeType?
        do {
            kind = try await runBlocking {
                try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
            }
        } catch {
            // Nothing is there, or it cannot be looked at, and then listening will tell.
            return
        }
        guard kind == .typeSocket else { throw refuse("something else stands there") }
        // One that a killed server left answers nobody. Listening on a path that is too long fails, and says so.
        let client = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        guard let channel = try? await client.connect(unixDomainSocketPath: path).get() else { return }
        channel.close(promise: nil)
        throw refuse("another server listens there")
    }
}
