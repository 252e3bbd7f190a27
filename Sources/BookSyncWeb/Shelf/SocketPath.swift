import BookModel
import Foundation

/// The path of a Unix socket. Listening there replaces what the path names, so that is checked first.
enum SocketPath {
    /// Blocks on the disk.
    /// - Throws: ``Failure`` of kind `inputOutput` when something that is no socket stands there, or somebody listens.
    static func requireFree(_ path: String) throws {
        func refuse(_ why: Message) -> Failure {
            Failure(
                .inputOutput, disposition: .stop, what: "cannot listen on unix:\(path)", why: why,
                remedy: "choose another path with --listen")
        }
        let kind: FileAttributeType?
        do {
            kind = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        } catch {
            // Nothing is there, or it cannot be looked at, and then listening will tell.
            return
        }
        guard kind == .typeSocket else { throw refuse("something else stands there") }
        // One that a killed server left answers nobody.
        if isAnswered(path) { throw refuse("another server listens there") }
    }

    private static func isAnswered(_ path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        // Listening on a longer one fails, and says so.
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        #if os(Linux)
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }
}
