import BookModel
import BookSync
import Dispatch
import Foundation
import LibraryFiles
import Logging
import Synchronization

/// Keeps the ``ServeKeys`` of a library, in `.booksync/serve-keys`, which only its owner reads.
///
/// The file is made at first need, and never in a library that is not there. It is looked at again from time to time: who
/// rotates a key from the command line, or deletes the file, is obeyed by the server that runs. Where it cannot be written
/// the keys are kept in memory, and end with the server.
package final class ServeKeyring: Sendable {
    private struct State {
        var keys: ServeKeys?
        /// Of the file that they were read from or written to; nil where they are in memory alone.
        var file: FileAttributes?
        var lookedAt: ContinuousClock.Instant?
        var hasComplained = false
    }

    private static let name = "serve-keys"
    private static let maxSize = 256 << 10

    private let folder: String
    private let logger: Logger
    private let state = Mutex(State())
    /// The only place where the file is touched.
    private let queue = DispatchQueue(label: "booksync.serve-keys")

    private var path: String { "\(folder)/\(Self.name)" }

    /// - Parameters:
    ///   - library: absolute path of its folder.
    ///   - logger: is told once when the keys cannot be kept.
    package init(library: String, logger: Logger) {
        folder = library + "/.booksync"
        self.logger = logger
    }

    /// The keys, as they were not longer than a second ago.
    func keys() async -> ServeKeys {
        let known = state.withLock { state -> ServeKeys? in
            guard let keys = state.keys, let time = state.lookedAt, time.duration(to: .now) < .seconds(1) else {
                return nil
            }
            return keys
        }
        if let known { return known }
        return await onQueue { self.look() }
    }

    /// Changes the keys, in the file as well.
    /// - Returns: whether they are in the file.
    @discardableResult
    func change(_ body: @escaping @Sendable (inout ServeKeys) -> Void) async -> Bool {
        await onQueue {
            var keys = self.look()
            body(&keys)
            let mark = self.save(keys, replacing: true)
            self.state.withLock {
                $0.keys = keys
                $0.file = mark
            }
            return mark != nil
        }
    }

    /// Gives the feeds of the owner's apps a new URL, and takes the old one away.
    /// - Throws: ``Failure`` of kind `libraryUnwritable`.
    package func rotateApps() async throws {
        guard await change({ $0.rotateApps() }) else {
            throw Failure(
                .libraryUnwritable, disposition: .stop, what: "\(path) cannot be written",
                why: "the apps' key is kept there", remedy: "see that the library is there and may be written")
        }
    }

    /// Ends all logins; a server that runs notices within a second.
    package func endSessions() async {
        await change { $0.endAll() }
    }

    private func onQueue<Answer: Sendable>(_ work: @escaping @Sendable () -> Answer) async -> Answer {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: work()) }
        }
    }

    // MARK: The file

    private func look() -> ServeKeys {
        let (known, mark) = state.withLock { ($0.keys, $0.file) }
        let current = fileAttributes(path, followsLink: false)
        var keys: ServeKeys
        var kept = current
        if let known, let mark, mark == current {
            keys = known
        } else if current != nil, let read = read() {
            keys = read
        } else {
            // Who deleted the file wants new keys; ones that never were in it go on.
            keys = mark == nil ? known ?? .make() : .make()
            kept = save(keys, replacing: current != nil)
            // Another server was quicker.
            if kept == nil, current == nil, let read = read() {
                keys = read
                kept = fileAttributes(path, followsLink: false)
            }
        }
        state.withLock {
            $0.keys = keys
            $0.file = kept
            $0.lookedAt = .now
        }
        return keys
    }

    private func read() -> ServeKeys? {
        // Keys that cannot be read are replaced, which ends all logins.
        let bytes = try? readPrivateFile(at: path, maxSize: Self.maxSize)
        return bytes.flatMap { ServeKeys(fileBytes: $0) }
    }

    /// - Parameter replacing: whether what stands there goes; else nothing is written where something does.
    /// - Returns: nil where it could not be written.
    private func save(_ keys: ServeKeys, replacing: Bool) -> FileAttributes? {
        var status = stat()
        // No library is made by looking at it.
        guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
        do {
            try replaceFile(at: path, with: try keys.fileBytes, replaces: replacing)
        } catch {
            let error = error as? SystemError ?? SystemError(code: EINVAL)
            return error.code == EEXIST ? nil : complain(error)
        }
        return fileAttributes(path, followsLink: false)
    }

    private func complain(_ error: SystemError) -> FileAttributes? {
        let isFirst = state.withLock { state in
            defer { state.hasComplained = true }
            return !state.hasComplained
        }
        if isFirst {
            // An error, so that whoever runs the server sees it without asking for more.
            logger.error(
                "the keys of serving cannot be kept: logins and the apps' addresses end with the server",
                metadata: ["file": "\(path)", "error": "\(error.message)"])
        }
        return nil
    }
}
