import BookSync
import CatalogStore
import Foundation
import LibraryFiles
import Logging
import ShelfQueries
import Support
import Synchronization
import Testing

@testable import ShelfService

/// Clients of the live shelf over hours; the clock is the test's own.
@Suite(.limitedConcurrency) struct EventBroadcasterTests {
    private final class MovedClock: Sendable {
        private let lead = Mutex(Duration.zero)

        func move(by duration: Duration) { lead.withLock { $0 += duration } }

        var now: ContinuousClock.Instant { .now + lead.withLock { $0 } }
    }

    private func withShelf(_ body: (EventBroadcaster, MovedClock) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let clock = MovedClock()
            let shelf = EventBroadcaster(libraries: [folder.path], logger: Logger(label: "test")) { clock.now }
            let work = Task { await shelf.work() }
            defer { work.cancel() }
            try await body(shelf, clock)
        }
    }

    /// The last `id` field of what a client was sent.
    private func id(in wire: String?) throws -> String {
        let line = try #require(wire?.split(separator: "\n").last { $0.hasPrefix("id: ") })
        return String(line.dropFirst(4))
    }

    private static let absences: [Duration] = [.seconds(61), .seconds(3600), .seconds(8 * 3600)]

    @Test(arguments: absences)
    func `a page that comes back after nobody was there asks for everything anew`(_ absence: Duration) async throws {
        try await withShelf { shelf, clock in
            let (page, _) = try #require(await shelf.join(lastEventID: nil))
            let known = try id(in: await shelf.next(for: page))
            await shelf.leave(page)
            clock.move(by: absence)
            let (again, first) = try #require(await shelf.join(lastEventID: known))
            #expect(first == "retry: 2000\n\n")
            let wire = try #require(await shelf.next(for: again))
            #expect(wire.contains("event: reset"))
            // It is one that the server knows from now on.
            let (other, _) = try #require(await shelf.join(lastEventID: try id(in: wire)))
            clock.move(by: .seconds(16))
            #expect(await shelf.next(for: other) == EventBroadcaster.heartbeat)
        }
    }

    @Test(arguments: absences)
    func `a new page after nobody was there is told what is under way`(_ absence: Duration) async throws {
        try await withShelf { shelf, clock in
            let (page, _) = try #require(await shelf.join(lastEventID: nil))
            _ = await shelf.next(for: page)
            await shelf.leave(page)
            clock.move(by: absence)
            let (other, _) = try #require(await shelf.join(lastEventID: nil))
            #expect(try #require(await shelf.next(for: other)).contains("event: changes\ndata: []"))
        }
    }

    @Test(arguments: absences)
    func `pages that were open over a suspended machine ask for everything anew`(_ absence: Duration) async throws {
        try await withShelf { shelf, clock in
            let (page, _) = try #require(await shelf.join(lastEventID: nil))
            _ = await shelf.next(for: page)
            clock.move(by: absence)
            #expect(try #require(await shelf.next(for: page)).contains("event: reset"))
        }
    }

    @Test func `a page of another server asks for everything anew, after a look`() async throws {
        try await withShelf { shelf, _ in
            let (page, first) = try #require(await shelf.join(lastEventID: "other.7"))
            // Before the first look a reset would lose what happens between the page's asking and that look.
            #expect(first == "retry: 2000\n\n")
            #expect(try #require(await shelf.next(for: page)).contains("event: reset"))
        }
    }

    @Test func `a page asks for everything anew when another store takes the place`() async throws {
        try await withTemporaryFolder { folder in
            func makeStore() async throws -> String {
                let library = try await LibraryFolder.open(at: folder.path)
                try await CatalogStore(path: library.storePath, access: .readWrite).close()
                return library.storePath
            }
            let path = try await makeStore()
            let shelf = EventBroadcaster(libraries: [folder.path], logger: Logger(label: "test"))
            let work = Task { await shelf.work() }
            defer { work.cancel() }
            let (page, _) = try #require(await shelf.join(lastEventID: nil))
            #expect(try #require(await shelf.next(for: page)).contains("event: changes"))
            try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
            _ = try await makeStore()
            #expect(try #require(await shelf.next(for: page)).contains("event: reset"))
        }
    }
}
