import Foundation
import Logging
import NIOPosix
import Synchronization

/// Servers that asked to be left alone for a while, told by one worker to others in other processes: a file for each server, in a
/// folder that they share.
///
/// It is an aid and no guarantee. Another worker hears of it a second later at most, and counts by its own clock; where the
/// folder cannot be read or written, each worker learns it from the server.
final class SharedWaits: Sendable {
    private struct Known {
        /// Seconds since 1970.
        var end = 0.0
        var lookedAt = -Double.infinity
        /// The end that this worker told the others. Its own transfers know it already.
        var own: Double?
    }

    /// Seconds between two looks at a server's file.
    private static let lookInterval = 1.0
    private let folder: URL
    private let logger: Logger
    private let known = Mutex<[String: Known]>([:])

    /// - Parameter folder: absolute; made where there is none.
    init(folder: String, logger: Logger) {
        self.folder = URL(fileURLWithPath: folder, isDirectory: true)
        self.logger = logger
    }

    /// Seconds that a server is still to be left alone because another worker was asked to; nil for none.
    /// - Parameter server: scheme, host and port.
    func secondsLeft(for server: String) async -> Double? {
        let now = Date().timeIntervalSince1970
        let before = known.withLock { $0[server] ?? Known() }
        var end = before.end
        if now - before.lookedAt >= Self.lookInterval || now < before.lookedAt {
            let file = file(of: server)
            // Where there is no file, nobody was asked to wait.
            let text = try? await NIOThreadPool.singleton.runIfActive { try String(contentsOf: file, encoding: .utf8) }
            end = text.flatMap(Double.init) ?? 0
            let seen = end
            known.withLock { known in
                known[server, default: Known()].end = seen
                known[server, default: Known()].lookedAt = now
            }
        }
        guard end > now, end != before.own else { return nil }
        return min(end - now, RetryPolicy.longestMeantWait)
    }

    /// Tells the others that a server asked to be left alone for so many seconds.
    func record(_ seconds: Double, for server: String) async {
        let end = (Date().timeIntervalSince1970 + seconds).rounded(.up)
        known.withLock { $0[server, default: Known()].own = end }
        let (folder, file) = (folder, file(of: server))
        do {
            try await NIOThreadPool.singleton.runIfActive {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                try Data("\(end)".utf8).write(to: file, options: .atomic)
            }
        } catch {
            logger.debug(
                "a wait cannot be told to other workers", metadata: ["server": "\(server)", "why": "\(error)"])
        }
    }

    private func file(of server: String) -> URL {
        let name = server.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        // A name of more bytes may be too long for the file system; its host is none that there is.
        return folder.appendingPathComponent(String(name.prefix(200)))
    }
}
