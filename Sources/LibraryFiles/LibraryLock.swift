import BookModel
import Foundation
import Synchronization

/// The right to change a library, held by one process at a time.
///
/// It is the kernel's lock on an open file (`flock`), so it ends with the process however that ends. What is written
/// in the file only tells others who holds it, and is never what decides. The folder that the file lies in is locked
/// too: whoever deletes a lock file in the belief that it is stale does not let a second run in. Other machines, which this lock
/// may not reach, are told apart by a ``LibraryLease``.
package final class LibraryLock: Sendable {
    private let descriptor: Int32
    /// Of the folder.
    private let folder: Int32
    /// From the moment on at which the kernel's lock is had.
    private let lease = Mutex<LibraryLease?>(nil)

    private init(descriptor: Int32, folder: Int32) {
        self.descriptor = descriptor
        self.folder = folder
    }

    /// The run that it was taken from, where that may wake some day, with files open.
    package var takenFrom: LockOwner? { lease.withLock { $0?.takenFrom } }

    /// Greater than that of each one before.
    package var epoch: Int { lease.withLock { Int(clamping: $0?.epoch ?? 0) } }

    /// To be called before anything is published or recorded as finished: reads one small file. Blocks on the disk.
    /// - Throws: ``Failure`` of kind `temporary` that ends the run, with ``Failure/Reason/takenOver``, when another run took the
    ///   library over.
    package func requireHeld() throws { try lease.withLock { $0 }?.requireHeld() }

    deinit {
        close(descriptor)
        close(folder)
    }

    /// Takes the lock, waiting for another holder as long as asked.
    /// - Parameters:
    ///   - library: opened, so that its `.booksync` is there.
    ///   - seconds: 0 takes it now or not at all.
    ///   - command: what this process is doing, for others to read; without secrets.
    /// - Returns: the lock, held until it is released or the last reference to it goes.
    /// - Throws: ``Failure`` that names the holder, with ``Failure/Reason/libraryInUse``; `libraryUnwritable` when there can
    ///   be no lock file; `CancellationError`.
    package static func acquire(
        in library: LibraryFolder, wait seconds: Double = 0, command: String
    ) async throws -> LibraryLock {
        let clock = ContinuousClock()
        // Whoever only asks whether a run is under way holds the lock for a moment; that is no reason to give up.
        let deadline = clock.now + .seconds(min(max(0.05, seconds), 1e9))
        var lock = try await runBlocking { try openLock(in: library) }
        while true {
            let opened = lock
            switch try await runBlocking({ try opened.tryTaking(library.lockFile) }) {
            case .taken:
                do {
                    try await opened.takeLease(of: library, command: command)
                    return lock
                } catch let failure as Failure where failure.reason == .libraryInUse && clock.now < deadline {
                    // Its holder is on another machine: the lock is given up meanwhile, so that nobody waits for the waiting.
                    opened.release()
                    try await clock.sleep(until: min(deadline, clock.now + .seconds(1)))
                    lock = try await runBlocking { try openLock(in: library) }
                } catch {
                    opened.release()
                    throw error
                }
            case .deleted:
                lock = try await runBlocking { try openLock(in: library) }
            case .held:
                guard clock.now < deadline else {
                    throw Self.inUse(
                        library, by: try await runBlocking { LockOwner(of: library) },
                        otherwise:
                            "the lock \(library.lockFile) is taken by a process that did not write its name into it")
                }
                // The kernel tells nobody when a lock is given up; asking ten times a second costs nothing.
                try await clock.sleep(until: min(deadline, clock.now + .milliseconds(seconds > 0 ? 100 : 10)))
            }
        }
    }

    /// Holds the lock while the body runs.
    package static func hold<T>(
        in library: LibraryFolder, wait seconds: Double = 0, command: String,
        isolation: isolated (any Actor)? = #isolation, _ body: (LibraryLock) async throws -> T
    ) async throws -> T {
        let lock = try await acquire(in: library, wait: seconds, command: command)
        defer { lock.release() }
        guard try await runBlocking({ MountedFilesystem.isShared(library.path) }),
            let lease = lock.lease.withLock({ $0 })
        else {
            return try await body(lock)
        }
        let beating = Task { await lease.beat() }
        defer { beating.cancel() }
        return try await body(lock)
    }

    private func takeLease(of library: LibraryFolder, command: String) async throws {
        let isShared = try await runBlocking { MountedFilesystem.isShared(library.path) }
        do {
            let taken = try await LibraryLease.take(library, isSharedDisk: isShared, command: command)
            lease.withLock { $0 = taken }
        } catch let failure as Failure where failure.isLackOfRoom && !isShared {
            // The kernel's lock is enough on this disk, and what makes room needs it.
        }
        try await runBlocking { [self] in
            let text = Array(LockOwner.thisProcess(command: command).lines.utf8)
            _ = ftruncate(descriptor, 0)
            // For people only: on a full disk the lock holds as well without it.
            _ = pwrite(descriptor, text, text.count, 0)
        }
    }

    /// Whether a process holds the lock of the library at `path` now. False where there is no library.
    package static func isHeld(in path: String) async throws -> Bool {
        let library = LibraryFolder.existing(at: path)
        return try await runBlocking {
            // A run that ended well emptied the file: then nothing has to be tried. Where it is not there at all, the
            // folder tells.
            let file = fileAttributes(library.lockFile, followsLink: false)
            if file?.size == 0 { return false }
            return probe(file == nil ? library.ownFolder : library.lockFile)?.code == EWOULDBLOCK
        }
    }

    /// Who holds the lock of the library at `path`; nil where nobody does, or does not say.
    package static func owner(in path: String) async throws -> LockOwner? {
        guard try await isHeld(in: path) else { return nil }
        return try await runBlocking { LockOwner(of: LibraryFolder.existing(at: path)) }
    }

    /// Tries whether the filesystem of the library keeps locks, without holding anybody up.
    /// - Throws: ``Failure`` of kind `libraryUnwritable` when it does not. Blocks on the disk.
    package static func requireLocking(in library: LibraryFolder) throws {
        let candidates = [library.lockFile, library.ownFolder]
        let path = candidates.first { fileAttributes($0, followsLink: false) != nil } ?? library.path
        if let error = probe(path), isRefusal(error) { throw unlockable(path, error) }
    }

    /// Tries whether the lock can be had, and keeps nothing of it.
    /// - Returns: why it cannot; nil when it can, or the file cannot be opened, which opening the library reports.
    private static func probe(_ path: String) -> SystemError? {
        let descriptor = uninterrupted { open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return .last }
        // A child that is being started may share the descriptor; closing alone would leave it the lock.
        flock(descriptor, LOCK_UN)
        return nil
    }

    /// Gives the lock up. The process that ends does so without it.
    package func release() {
        if let lease = lease.withLock({ $0 }) {
            // What another wrote who took over is not to be emptied.
            if case .success = Result(catching: lease.requireHeld) { _ = ftruncate(descriptor, 0) }
            lease.release()
        }
        flock(descriptor, LOCK_UN)
        flock(folder, LOCK_UN)
    }

    private static func openLock(in library: LibraryFolder) throws -> LibraryLock {
        let path = library.lockFile
        // A run that found no book may have taken away the library that it made, while this one came or waited.
        try library.make()
        do {
            // Not truncated: until the lock is taken, what stands in it is another's.
            let descriptor = try systemCall { open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600) }
            let folder = uninterrupted { open(library.ownFolder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) }
            let code = errno
            guard folder >= 0 else {
                close(descriptor)
                throw SystemError(code: code)
            }
            return LibraryLock(descriptor: descriptor, folder: folder)
        } catch let error as SystemError {
            throw unlockable(path, error)
        }
    }

    private enum Try {
        case taken
        case held
        /// Somebody deleted the file after it was opened: the lock on it would mean nothing to those that come later.
        case deleted
    }

    private func tryTaking(_ path: String) throws -> Try {
        do {
            try systemCall { flock(descriptor, LOCK_EX | LOCK_NB) }
        } catch let error where error.code == EWOULDBLOCK {
            return .held
        } catch {
            throw Self.unlockable(path, error)
        }
        var (opened, current) = (stat(), stat())
        guard fstat(descriptor, &opened) == 0, lstat(path, &current) == 0, opened.st_ino == current.st_ino else {
            return .deleted
        }
        // Some network filesystems lock no folders; then the file alone has to do.
        if flock(folder, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            flock(descriptor, LOCK_UN)
            return .held
        }
        return .taken
    }

    /// - Parameter why: what is known where the lock names no owner.
    static func inUse(_ library: LibraryFolder, by owner: LockOwner?, otherwise why: Message) -> Failure {
        Failure(
            .temporary, disposition: .stop, what: "another run holds the library \(library.path)",
            why: owner?.sentence ?? why,
            remedy: "let it finish, or wait for it with --wait 60s", reason: .libraryInUse)
    }

    /// Whether the error says that the filesystem itself keeps no locks: NFS without its lock service, and some filesystems
    /// in user space (flock(2), fcntl(2)).
    private static func isRefusal(_ error: SystemError) -> Bool {
        [ENOLCK, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(error.code)
    }

    /// What is told where a lock cannot be had at all.
    static func unlockable(_ path: String, _ error: SystemError) -> Failure {
        guard isRefusal(error) else {
            return Failure(
                .libraryUnwritable, disposition: .stop, what: "the library cannot be locked",
                why: "\(path): \(error.message)", remedy: "see that the file may be written")
        }
        return Failure(
            .libraryUnwritable, disposition: .stop, what: "the library cannot be locked",
            why:
                "\(path): its filesystem keeps no locks (flock: \(error.message)), and two runs would be in each other's way",
            remedy: "on NFS mount it with version 4, or start the lock service (rpc.statd) on both sides; else put the "
                + "library on a filesystem that knows flock")
    }
}
