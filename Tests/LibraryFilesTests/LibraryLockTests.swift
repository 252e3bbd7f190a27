import BookModel
import DownloadEngine
import Foundation
import Support
import Testing

@testable import LibraryFiles

@Suite(.limitedConcurrency) struct LibraryLockTests {
    @Test func `a second run is told who holds the library`() async throws {
        try await withTemporaryPath { path in
            let library = try await LibraryFolder.open(at: path)
            let first = try await LibraryLock.acquire(in: library, command: "mirror\nall")
            let failure = try await #require(throws: Failure.self) {
                _ = try await LibraryLock.acquire(in: library, command: "fetch")
            }
            #expect(failure.kind == .temporary && failure.reason == .libraryInUse)
            #expect(failure.what.description.contains(path))
            #expect(failure.why.description.contains("process \(ProcessInfo.processInfo.processIdentifier) on "))
            #expect(failure.why.description.contains("'mirror all' since 2"))
            first.release()
            let second = try await LibraryLock.acquire(in: library, command: "fetch")
            second.release()
            #expect(try String(contentsOfFile: library.lockFile, encoding: .utf8) == "")
        }
    }

    @Test func `the lock ends with the body that holds it, failed or not`() async throws {
        struct Stop: Error {}
        try await withTemporaryPath { path in
            let library = try await LibraryFolder.open(at: path)
            await #expect(throws: Stop.self) {
                try await LibraryLock.hold(in: library, command: "fetch") { _ in throw Stop() }
            }
            let number = try await LibraryLock.hold(in: library, command: "fetch") { _ in 42 }
            #expect(number == 42)
        }
    }

    @Test func `a waiting run can be cancelled`() async throws {
        try await withTemporaryPath { path in
            let library = try await LibraryFolder.open(at: path)
            let first = try await LibraryLock.acquire(in: library, command: "first")
            let second = Task { try await LibraryLock.acquire(in: library, wait: 600, command: "second") }
            second.cancel()
            await #expect(throws: CancellationError.self) { _ = try await second.value }
            first.release()
        }
    }

    @Test(.needs("flock"))
    func `a lock held by another process ends when that process is killed`() async throws {
        try await withTemporaryPath { path in
            let library = try await LibraryFolder.open(at: path)
            // Only flock itself holds the lock (-o), and what it runs ends soon after it.
            let held = "echo held; exec tail --pid=$PPID -f /dev/null"
            let holding = ["-x", "-o", library.lockFile, "/bin/sh", "-c", held]
            let flock = URL(filePath: "/usr/bin/flock")
            try await withProduct(holding, in: URL(filePath: path), executable: flock) { holder in
                try await holder.waitForOutput(containing: "held")
                let failure = try await #require(throws: Failure.self) {
                    _ = try await LibraryLock.acquire(in: library, command: "fetch")
                }
                #expect(failure.kind == .temporary)
                #expect(failure.why.description.contains("did not write its name"))

                holder.send(signal: SIGKILL)
                let lock = try await LibraryLock.acquire(in: library, wait: 60, command: "fetch")
                lock.release()
            }
        }
    }

    @Test func `case 38: a lock file that somebody deleted lets no second run in`() async throws {
        try await withTemporaryPath { path in
            let library = try await LibraryFolder.open(at: path)
            let first = try await LibraryLock.acquire(in: library, command: "first")
            try FileManager.default.removeItem(atPath: library.lockFile)
            #expect(try await LibraryLock.isHeld(in: path))
            let failure = try await #require(throws: Failure.self) {
                _ = try await LibraryLock.acquire(in: library, command: "second")
            }
            #expect(failure.kind == .temporary)
            first.release()
            let third = try await LibraryLock.acquire(in: library, command: "third")
            #expect(try await LibraryLock.isHeld(in: path))
            third.release()
            #expect(try await !LibraryLock.isHeld(in: path))
        }
    }

    /// How many of this process's descriptors are of the file.
    private static func descriptors(of path: String) throws -> Int {
        let files = FileManager.default
        return try files.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
            // One that is closed meanwhile leads nowhere.
            guard
                case .success(let target) = Result(catching: {
                    try files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
                })
            else { return false }
            return target == path
        }
    }

    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"), "this is no Linux"),
        arguments: ["/.booksync/lock", ""])
    func `case 38: a run that waits for a lock that is deleted meanwhile still gets it`(deleted: String) async throws {
        try await withTemporaryPath { path in
            let library = try await LibraryFolder.open(at: path)
            let first = try await LibraryLock.acquire(in: library, command: "first")
            async let second = LibraryLock.acquire(in: library, wait: 60, command: "second")
            try await waitUntil("the second one waits") { try Self.descriptors(of: library.lockFile) == 2 }
            try FileManager.default.removeItem(atPath: path + deleted)
            first.release()
            let held = try await second
            #expect(FileManager.default.fileExists(atPath: library.partialFolder))
            // What it holds is what the next one meets.
            await #expect(throws: Failure.self) { _ = try await LibraryLock.acquire(in: library, command: "third") }
            held.release()
        }
    }

    @Test func `case 38: what a killed run left in the lock file holds nobody back`() async throws {
        try await withTemporaryPath { path in
            let library = try await LibraryFolder.open(at: path)
            try Data("pid 1\nhost elsewhere\nsince 2001-01-01T00:00:00Z\ncommand mirror\n".utf8)
                .write(to: URL(filePath: library.lockFile))
            #expect(try await !LibraryLock.isHeld(in: path))
            let lock = try await LibraryLock.acquire(in: library, command: "fetch")
            let text = try String(contentsOfFile: library.lockFile, encoding: .utf8)
            #expect(text.contains("pid \(ProcessInfo.processInfo.processIdentifier)\n") && !text.contains("elsewhere"))
            lock.release()
        }
    }

    @Test(arguments: [ENOLCK, ENOTSUP, ENOSYS])
    func `a filesystem that keeps no locks is named with what to do`(code: Int32) {
        let failure = LibraryLock.unlockable("/L/.booksync/lock", SystemError(code: code))
        #expect(failure.kind == .libraryUnwritable && failure.disposition == .stop)
        #expect(
            failure.why.description.contains("keeps no locks") && failure.remedy?.description.contains("NFS") == true)
        let other = LibraryLock.unlockable("/L/.booksync/lock", SystemError(code: EACCES))
        #expect(!other.why.description.contains("keeps no locks"))
    }

    @Test func `a holder on another machine is told from one on this`() throws {
        let owner = LockOwner.thisProcess(command: "mirror")
        #expect(!owner.isElsewhere && owner.sentence.description.contains("on this machine (\(owner.host))"))
        let other = try #require(
            LockOwner(lines: "pid 7\nhost nas.example\nsince 2026-01-01T00:00:00Z\ncommand mirror"))
        #expect(other.isElsewhere)
        #expect(
            other.sentence.description
                == "process 7 on another machine, nas.example, has been running 'mirror' since 2026-01-01T00:00:00Z")
        #expect(other.age(at: Date(timeIntervalSince1970: 1_767_312_000)) == 86_400)
        #expect(LockOwner(lines: "pid 7\nsince ever")?.age(at: .now) == nil)
    }
}
