import CatalogStore
import Foundation
import LibraryFiles
import Logging
import Support
import Synchronization
import Testing

@testable import BookSync

/// Clients of the live shelf over hours; the clock is the test's own.
@Suite(.limitedConcurrency) struct LiveShelfTests {
    private final class MovedClock: Sendable {
        private let lead = Mutex(Duration.zero)

        func move(by duration: Duration) { lead.withLock { $0 += duration } }

        var now: ContinuousClock.Instant { .now + lead.withLock { $0 } }
    }

    private func withShelf(_ body: (LiveShelf, MovedClock, _ library: String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let clock = MovedClock()
            let shelf = LiveShelf(libraries: [folder.path], logger: Logger(label: "test")) { clock.now }
            let work = Task { await shelf.work() }
            defer { work.cancel() }
            try await body(shelf, clock, folder.path)
        }
    }

    private func version(in message: String?) throws -> String {
        let data = try #require(message?.split(separator: "\n").last { $0.hasPrefix("data: ") }).dropFirst(6)
        let shelf = try JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: Any]
        #expect(shelf?["moving"] as? [String] == [] && shelf?["runs"] as? [String] == [])
        return try #require(shelf?["version"] as? String)
    }

    private func makeStore(in library: String) async throws -> String {
        let folder = try await LibraryFolder.open(at: library)
        try await CatalogStore(path: folder.storePath, access: .readWrite).close()
        return folder.storePath
    }

    @Test func `a client is told once what is, and then that the server is there`() async throws {
        try await withShelf { shelf, clock, _ in
            let client = try #require(await shelf.join())
            let first = try version(in: await shelf.next(for: client))
            for absence in [Duration.seconds(16), .seconds(8 * 3600)] {
                clock.move(by: absence)
                #expect(await shelf.next(for: client) == LiveShelf.heartbeat)
            }
            await shelf.leave(client)
            #expect(await shelf.next(for: client) == nil)
            // The last one left, and nobody looked since.
            let other = try #require(await shelf.join())
            #expect(try version(in: await shelf.next(for: other)) == first)
        }
    }

    @Test func `a store that is made, and one that takes its place, are other versions`() async throws {
        try await withShelf { shelf, _, library in
            let client = try #require(await shelf.join())
            var versions = [try version(in: await shelf.next(for: client))]
            let path = try await makeStore(in: library)
            versions.append(try version(in: await shelf.next(for: client)))
            try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
            _ = try await makeStore(in: library)
            while Set(versions).count < 3 { versions.append(try version(in: await shelf.next(for: client))) }
        }
    }

    @Test func `the oldest of too many makes room, and all end with the server`() async throws {
        try await withTemporaryFolder { folder in
            let shelf = LiveShelf(libraries: [folder.path], logger: Logger(label: "test"))
            let work = Task { await shelf.work() }
            let first = try #require(await shelf.join())
            var last = first
            for _ in 1...128 { last = try #require(await shelf.join()) }
            #expect(await shelf.next(for: first) == nil)
            #expect(await shelf.next(for: last) != nil)
            work.cancel()
            #expect(await shelf.next(for: last) == nil)
            await work.value
            #expect(await shelf.join() == nil)
        }
    }
}
