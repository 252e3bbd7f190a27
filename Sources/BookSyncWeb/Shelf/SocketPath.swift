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
        let client = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        do {
            try await client.connect(unixDomainSocketPath: path).get().close(promise: nil)
        } catch {
            // One that takes no more connections for now listens all the same; what a killed server left answers nobody. Listening
            // on a path that is too long fails, and says so.
            guard error is ChannelError || (error as? IOError)?.errnoCode == EAGAIN else { return }
        }
        throw refuse("another server listens there")
    }
}
