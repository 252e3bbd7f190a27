import BookModel
import Foundation
import Synchronization

/// This process's turn as the ``LibraryHolder``: it shows that it lives, and can tell whether another took over.
///
/// The file is written whole under another name and renamed by each new holder. What a predecessor that wakes writes goes to the
/// file that it opened, which has no name any more.
final class LibraryLease: Sendable {
    /// Seconds.
    static let beatInterval = 10.0

    private let library: String
    private let path: String
    private let descriptor: Int32
    private let holder: Mutex<LibraryHolder>
    /// The predecessor where it may live: it was silent, no more is known.
    let takenFrom: LockOwner?

    var epoch: UInt64 { holder.withLock { $0.epoch } }

    private init(_ holder: LibraryHolder, in library: LibraryFolder, descriptor: Int32, takenFrom: LockOwner?) {
        self.library = library.path
        self.path = library.holderFile
        self.descriptor = descriptor
        self.holder = Mutex(holder)
        self.takenFrom = takenFrom
    }

    deinit { close(descriptor) }

    /// Becomes the holder; looks for up to ``HolderWatch/silence`` whether the last one lives, where only that can tell.
    /// - Throws: ``Failure`` of kind `temporary` when it lives, or another came first.
    static func take(_ library: LibraryFolder, isSharedDisk: Bool, command: String) async throws -> LibraryLease {
        let clock = ContinuousClock()
        let begin = clock.now
        var watch = HolderWatch(isSharedDisk: isSharedDisk)
        while true {
            let last = try await runBlocking {
                FileManager.default.contents(atPath: library.holderFile).flatMap(LibraryHolder.init(bytes:))
                    .map { (holder: $0, isGone: $0.isKnownToBeGone) }
            }
            switch watch.decide(last?.holder, isGone: last?.isGone ?? false, at: clock.now - begin) {
            case .take(let fromSilentHolder):
                let lease = try await runBlocking {
                    try claim(library, after: last?.holder, command: command, isTakingOver: fromSilentHolder)
                }
                // Another that saw the same silence may come a moment later, and then has it.
                if fromSilentHolder { try await clock.sleep(for: .seconds(2)) }
                try await runBlocking { try lease.requireHeld() }
                return lease
            case .wait:
                try await clock.sleep(for: .seconds(1))
            case .held:
                throw LibraryLock.inUse(
                    library, by: last?.holder.owner, otherwise: "another run took it at the same moment")
            }
        }
    }

    private static func claim(
        _ library: LibraryFolder, after last: LibraryHolder?, command: String, isTakingOver: Bool
    ) throws -> LibraryLease {
        let holder = LibraryHolder.successor(of: last, command: command)
        let what: Message = "the library \(library.path) cannot be taken"
        do {
            try replaceFile(at: library.holderFile, with: Array(holder.text.utf8))
        } catch {
            throw Failure.file(what, errno: error.code)
        }
        let descriptor = try systemCall(what) { open(library.holderFile, O_RDWR | O_CLOEXEC | O_NOFOLLOW) }
        return LibraryLease(
            holder, in: library, descriptor: descriptor, takenFrom: isTakingOver ? last?.owner : nil)
    }

    /// To be called before anything is published or recorded as finished. Blocks on the disk.
    /// - Throws: ``Failure`` that ends the run, with ``Failure/Reason/takenOver``, when another has the library now. Where the file
    ///   is not there nobody took it.
    func requireHeld() throws {
        // Opened each time: a network filesystem asks its server then. Called for each transfer, so the bytes are compared with
        // those that this process wrote, and parsed only where they differ: a beat may have come in between.
        guard let bytes = FileManager.default.contents(atPath: path),
            holder.withLock({ bytes != Data($0.text.utf8) }), let current = LibraryHolder(bytes: bytes),
            !holder.withLock({ $0.isSameHolder(as: current) })
        else { return }
        throw Failure(
            .temporary, disposition: .stop, what: "this run has lost the library \(library)",
            why: "it was silent for long, and was believed dead: \(current.owner.sentence)",
            remedy: "what was received is kept; the other run fetches the rest", reason: .takenOver)
    }

    /// Shows again and again that this process lives, until the task is cancelled.
    func beat() async {
        while !Task.isCancelled {
            // Cancelled while it sleeps: the condition ends it.
            try? await Task.sleep(for: .seconds(Self.beatInterval))
            _ = try? await runBlocking { self.write { if !$0.isReleased { $0.beat &+= 1 } } }
        }
    }

    /// Whoever comes next need not wait.
    func release() {
        write { $0.isReleased = true }
    }

    /// Where the disk refuses it, this run seems dead to others, and they may take over: that does no harm.
    private func write(_ change: (inout LibraryHolder) -> Void) {
        holder.withLock { holder in
            change(&holder)
            let line = Array(holder.stateLine.utf8)
            _ = pwrite(descriptor, line, line.count, 0)
            fsync(descriptor)
        }
    }
}
