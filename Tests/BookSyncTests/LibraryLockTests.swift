import BookModel
import Foundation
import Testing

@testable import BookSync

@Suite struct LibraryLockTests {
    @Test func `a second run is told who holds the library`() async throws {
        try await withTemporaryFolder { path in
            let library = try await LibraryFolder.open(at: path)
            let first = try await LibraryLock.acquire(in: library, command: "mirror\nall")
            let failure = try await #require(throws: Failure.self) {
                _ = try await LibraryLock.acquire(in: library, command: "fetch")
            }
            #expect(failure.kind == .temporary)
            #expect(failure.what.contains(path))
            #expect(failure.why.contains("process \(ProcessInfo.processInfo.processIdentifier) on "))
            #expect(failure.why.contains("'mirror all' since 2"))
            first.release()
            let second = try await LibraryLock.acquire(in: library, command: "fetch")
            second.release()
            #expect(try String(contentsOfFile: library.lockFile, encoding: .utf8) == "")
        }
    }

    @Test func `the lock ends with the body that holds it, failed or not`() async throws {
        struct Stop: Error {}
        try await withTemporaryFolder { path in
            let library = try await LibraryFolder.open(at: path)
            await #expect(throws: Stop.self) {
                try await LibraryLock.hold(in: library, command: "fetch") { throw Stop() }
            }
            let number = try await LibraryLock.hold(in: library, command: "fetch") { 42 }
            #expect(number == 42)
        }
    }

    @Test func `a run that waits goes on when the other one ends`() async throws {
        try await withTemporaryFolder { path in
            let library = try await LibraryFolder.open(at: path)
            let first = try await LibraryLock.acquire(in: library, command: "first")
            async let second = LibraryLock.acquire(in: library, wait: 60, command: "second")
            first.release()
            try await second.release()
        }
    }

    @Test func `a waiting run can be cancelled`() async throws {
        try await withTemporaryFolder { path in
            let library = try await LibraryFolder.open(at: path)
            let first = try await LibraryLock.acquire(in: library, command: "first")
            let second = Task { try await LibraryLock.acquire(in: library, wait: 600, command: "second") }
            second.cancel()
            await #expect(throws: CancellationError.self) { _ = try await second.value }
            first.release()
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/flock")))
    func `a lock held by another process ends when that process is killed`() async throws {
        try await withTemporaryFolder { path in
            let library = try await LibraryFolder.open(at: path)
            let holder = Process()
            holder.executableURL = URL(filePath: "/usr/bin/flock")
            holder.arguments = ["-x", "-o", library.lockFile, "/bin/sh", "-c", "echo held; read line"]
            let (input, output) = (Pipe(), Pipe())
            holder.standardInput = input
            holder.standardOutput = output
            try holder.run()
            #expect(output.fileHandleForReading.availableData == Data("held\n".utf8))

            let failure = try await #require(throws: Failure.self) {
                _ = try await LibraryLock.acquire(in: library, command: "fetch")
            }
            #expect(failure.kind == .temporary)
            #expect(failure.why.contains("did not write its name"))

            kill(holder.processIdentifier, SIGKILL)
            let lock = try await LibraryLock.acquire(in: library, wait: 60, command: "fetch")
            lock.release()
            try input.fileHandleForWriting.close()
        }
    }
}
