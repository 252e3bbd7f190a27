import BookModel
import CatalogStore
import Foundation
import Logging
import Settings
import Support
import Testing
import Transport

@testable import BookSync
@testable import DownloadEngine

/// What is asked for while a run is under way.
@Suite(.limitedConcurrency) struct JoinedRunTests {
    private let gate = Gate()

    /// Six episodes, the first of which stops in the middle until the gate opens.
    private var catalog: ScriptedCatalog {
        var catalog = ScriptedCatalog.episodes(6)
        catalog.audio["/audio/1.mp3"] = .file(
            ScriptedCatalog.bytes(1), [.stall(at: 25_000, until: gate), .wellBehaved])
        return catalog
    }

    private func request(_ sections: String?, of book: BookIdentity = RunBench.book) throws -> RunRequest {
        let filter = EpisodeFilter(only: try sections.map(SectionRanges.init(parsing:)))
        return try RunRequest(items: [.init(book: book, filter: filter, title: "Book \(book.id)")])
    }

    /// A run over some episodes.
    private func start(_ request: RunRequest, _ bench: RunBench) -> Task<RunReport, any Error> {
        let (run, library) = (bench.syncRun, bench.library)
        return Task {
            try await LibrarySession.withLibrary(at: library, command: "test") {
                try await run.execute(request, in: $0)
            }
        }
    }

    private func audio(_ bench: RunBench) -> [String] {
        bench.audioRequests.map { String($0.path.dropFirst(7).prefix(1)) }
    }

    @Test func `what joins a run comes before what waits, and is counted with it`() async throws {
        try await withRunBench(catalog, jobs: 1) { bench in
            let run = start(try request("1-3"), bench)
            try await bench.waitUntilHeld(25_000, of: 1)
            try await bench.ask("5")
            try await bench.ask("2,6")
            try await bench.events.waitUntil { $0.count { if case .planned = $0 { true } else { false } } == 3 }
            // The engine has them when it announced them.
            try await waitUntil("four wait") {
                try await bench.withStore { try await $0.episodes(of: RunBench.book) }
                    .count { $0.transfer?.state == .waiting } == 4
            }
            gate.open()
            let report = try await run.value
            #expect(audio(bench) == ["1", "2", "5", "6", "3"])
            #expect(report.failures.isEmpty && report.summary.fetched == 5 && report.summary.left == 0)
            #expect(report.summary.books.count == 1)
        }
    }

    @Test func `another book joins, and begins although the run has nothing but a catalog to wait for`() async throws {
        let other = BookIdentity(source: "kting", id: "7")
        try await withRunBench(catalog) { bench in
            let run = start(try request("1", of: other), bench)
            try await bench.waitUntilHeld(25_000, of: 1, ofBook: other)
            try await bench.ask("2-3")
            try await waitUntil("they are there") { try await bench.withStore { try await $0.filePaths() }.count == 2 }
            gate.open()
            #expect(try await run.value.summary.fetched == 3)
        }
    }

    @Test func `what was paused and is asked for again goes on in the same run`() async throws {
        try await withRunBench(catalog, jobs: 1) { bench in
            let run = start(try request("1-2"), bench)
            try await bench.waitUntilHeld(25_000, of: 1)
            #expect(try await bench.control { try await $0.pause(bench.sections(1...1)) } == 1)
            try await bench.events.waitUntil { $0.contains { if case .paused = $0 { true } else { false } } }
            #expect(try await bench.control { try await $0.resume(bench.sections(1...1)) } == 1)
            gate.open()
            let summary = try await run.value.summary
            // The run may have been at its end: then the next one goes on.
            if try await bench.requests().isEmpty {
                #expect(summary.paused == 0 && summary.fetched + summary.resumed == 2, "\(summary)")
                #expect(bench.audioBytesSent <= 80_001)
            } else {
                #expect(summary.paused + summary.left == 1, "\(summary)")
            }
        }
    }

    @Test func `what was asked of a run while it was paused is asked for again when it is resumed`() async throws {
        try await withRunBench(catalog, jobs: 1) { bench in
            _ = try await start(try request("6"), bench).value
            #expect(try await bench.control { try await $0.pause(bench.sections(2...5)) } == 4)
            let run = start(try request("1"), bench)
            try await bench.waitUntilHeld(25_000, of: 1)
            try await bench.ask("3")
            try await bench.events.waitUntil { $0.count { if case .planned = $0 { true } else { false } } == 3 }
            gate.open()
            _ = try await run.value
            #expect(try await bench.requests().isEmpty)
            #expect(try await bench.control { try await $0.resume(bench.wholeBook) } == 4)
            #expect(try await bench.requests().map(\.filter.only?.description) == ["3"])
        }
    }

    @Test func `what is resumed is fetched by the run under way, which nobody tells`() async throws {
        try await withRunBench(catalog, jobs: 1) { bench in
            func pause(_ section: Int) async throws {
                #expect(try await bench.control { try await $0.pause(bench.sections(section...section)) } == 1)
            }
            let first = start(try request("3"), bench)
            #expect(try await first.value.summary.fetched == 1)
            // One before the run, and one that it was to fetch.
            try await pause(2)
            let run = start(try request("1-2,4"), bench)
            try await bench.waitUntilHeld(25_000, of: 1)
            try await pause(4)
            try await bench.events.waitUntil { $0.contains { if case .paused = $0 { true } else { false } } }
            #expect(try await bench.control { try await $0.resume(.everything) } == 2)
            try await bench.events.waitUntil { $0.count { if case .planned = $0 { true } else { false } } == 3 }
            gate.open()
            let summary = try await run.value.summary
            #expect(summary.fetched == 3 && summary.paused == 0 && summary.left == 0, "\(summary)")
            #expect(audio(bench).sorted() == ["1", "2", "3", "4"])
        }
    }

    @Test func `a cancelled episode is not downloaded, unless it is requested again`() {
        func isCancelled(by asked: StoredRequest...) -> [Bool] {
            (1...2).map { section in
                let identity = EpisodeIdentity(book: RunBench.book, key: "\(section)")
                return !asked.cancelled(among: [Episode(identity: identity, section: section, name: "")]).isEmpty
            }
        }
        let one = StoredRequest(cancelling: EpisodeIdentity(book: RunBench.book, key: "1"))
        let (book, all) = (StoredRequest(.cancel, RunBench.book), StoredRequest(.cancel))
        let other = StoredRequest(.cancel, BookIdentity(source: "kting", id: "other"))
        let second = StoredRequest(.fetch, RunBench.book, filter: EpisodeFilter(only: SectionRanges([2...2])))
        let whole = StoredRequest(.fetch, RunBench.book)
        #expect(isCancelled(by: whole) == [false, false] && isCancelled(by: whole, one) == [true, false])
        #expect(isCancelled(by: all) == [true, true] && isCancelled(by: other) == [false, false])
        #expect(isCancelled(by: book, second) == [true, false] && isCancelled(by: all, whole) == [false, false])
        #expect(isCancelled(by: all, StoredRequest(.mirror)) == [true, true])
    }

    @Test func `where the catalogs were stopped nothing joins any more, and what has joined keeps no run open`()
        async throws
    {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run(limits: RunLimits(episodes: 0))
            try await bench.ask("2")
            let inbox = TransferInbox()
            #expect(inbox.hold())
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            try await bench.withStore { store in
                let feed = RequestFeed(of: bench.syncRun, store, inbox)
                try await withHTTPTransport(options: bench.configuration.transportOptions, logger: logger) {
                    let refresh = CatalogRefresh(
                        configuration: bench.configuration, namings: try Namings(of: bench.configuration),
                        request: try request("1"), store: nil, stores: false, transport: $0,
                        outages: [:], feed: feed, engineEnd: AsyncStream<Bool>.makeStream().stream
                    ) { _ in }
                    try await refresh.execute(within: nil) { _, _ in
                        throw Failure(.inputOutput, disposition: .stop, what: "it", why: "nothing works")
                    } onFinished: { outcome, requests in
                        #expect(outcome.stop != nil && requests == 2)
                        inbox.release(requests)
                    }
                }
                // The engine has nothing to do, and nobody keeps it waiting.
                #expect(!inbox.hold())
                try await store.ask([StoredRequest(.fetch, RunBench.book)])
                #expect(try await feed.look().isEmpty)
            }
        }
    }

    @Test func `what failed and is asked for again in the same run counts as what came of it at last`() async throws {
        var catalog = catalog
        catalog.audio["/audio/2.mp3"] = .file(
            ScriptedCatalog.bytes(2), [.instead(.text("gone", status: 404)), .wellBehaved])
        try await withRunBench(catalog, jobs: 2) { bench in
            let run = start(try request("1-2"), bench)
            try await bench.waitUntilHeld(25_000, of: 1)
            try await bench.events.waitUntil { $0.contains { if case .failed = $0 { true } else { false } } }
            try await waitUntil("it is recorded") { try await bench.shelved(2)?.transfer?.state == .failed }
            try await bench.ask("2")
            try await bench.events.waitUntil { $0.contains { if case .finished = $0 { true } else { false } } }
            gate.open()
            let report = try await run.value
            #expect(report.failures.isEmpty, "\(report.failures)")
            #expect(report.summary.fetched == 2 && report.summary.failed == 0, "\(report.summary)")
            #expect(report.summary.episodes == 6, "\(report.summary)")
        }
    }

    @Test func `an episode that joins a limited run which is to fetch it as well is fetched once, and first`()
        async throws
    {
        try await withRunBench(catalog, jobs: 1) { bench in
            let limited = try RunRequest(
                items: [.init(book: RunBench.book, filter: EpisodeFilter(only: SectionRanges(parsing: "1-3")))],
                limits: RunLimits(episodes: 3))
            try await bench.run(limits: RunLimits(episodes: 0))
            try await bench.ask("3")
            let run = bench.syncRun
            gate.open()
            let report = try await LibrarySession.withLibrary(at: bench.library, command: "test") {
                try await run.execute(limited, in: $0)
            }
            #expect(audio(bench) == ["3", "1", "2"])
            #expect(report.summary.fetched == 3 && report.summary.episodes == 6, "\(report.summary)")
        }
    }

    @Test func `what joins by force comes back from the trash, and is not fetched again`() async throws {
        try await withRunBench(catalog, jobs: 1) { bench in
            let first = start(try request("2"), bench)
            #expect(try await first.value.summary.fetched == 1)
            #expect(try await bench.control { try await $0.remove(bench.sections(2...2)).files } == 1)
            let run = start(try request("1"), bench)
            try await bench.waitUntilHeld(25_000, of: 1)
            try await bench.ask("2", force: true)
            try await waitUntil("it is back") { try await bench.shelved(2)?.file != nil }
            gate.open()
            #expect(try await run.value.failures.isEmpty)
            #expect(audio(bench) == ["2", "1"])
            #expect(bench.notices.contains("1 file comes back from the trash"), "\(bench.notices)")
        }
    }

    @Test func `a catalog that the run has just read is not asked again, and every episode counts once`() async throws {
        try await withRunBench(catalog, jobs: 1) { bench in
            let run = start(try request("1"), bench)
            try await bench.waitUntilHeld(25_000, of: 1)
            let asked = bench.server.record.requests.count
            for sections in ["5", "2,6", "2", "6"] { try await bench.ask(sections) }
            try await bench.events.waitUntil { $0.count { if case .planned = $0 { true } else { false } } == 5 }
            #expect(bench.server.record.requests.count == asked)
            gate.open()
            let report = try await run.value
            #expect(report.summary.fetched == 4 && report.summary.filtered == 2, "\(report.summary)")
            #expect(bench.notices.filter { $0.contains("requested separately") }.count == 2, "\(bench.notices)")
        }
    }

    @Test func `a file that the run itself is putting in place is not adopted by a plan that joins it`() async throws {
        try await withRunBench(catalog, jobs: 1) { bench in
            let run = start(try request("1-2"), bench)
            try await bench.waitUntilHeld(25_000, of: 1)
            let path = try #require(bench.plannedPaths[2])
            let waiting = try #require(try await bench.shelved(2))
            // What a plan sees between the rename of a file and its record.
            let announced = LocalFile(
                episode: waiting.episode.identity, path: path, size: Int64(ScriptedCatalog.bytes(2).count),
                sha256: sha256(ScriptedCatalog.bytes(2)), modificationTime: 0, inode: 0, fetchedAt: Date(),
                verification: .length)
            try await bench.withStore { _ = try await $0.begin(publishing: announced) }
            let file = URL(filePath: bench.library + "/" + path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(ScriptedCatalog.bytes(2)).write(to: file)
            try await bench.ask("2-3")
            try await bench.events.waitUntil { $0.count { if case .planned = $0 { true } else { false } } == 2 }
            try FileManager.default.removeItem(at: file)
            gate.open()
            let report = try await run.value
            #expect(report.failures.isEmpty, "\(report.failures)")
            #expect(report.summary.adopted == 0 && report.summary.fetched == 3, "\(report.summary)")
            #expect(report.summary.episodes == 6, "\(report.summary)")
        }
    }

    @Test func `what was asked of a run that ended before it came to it is fetched by the next`() async throws {
        try await withRunBench(catalog) { bench in
            gate.open()
            let first = start(try request("2"), bench)
            #expect(try await first.value.summary.fetched == 1)
            try await bench.ask("4")
            let second = start(try request("3"), bench)
            #expect(try await second.value.summary.fetched == 2)
            #expect(audio(bench).sorted() == ["2", "3", "4"])
        }
    }

    @Test func `episodes that are asked for one after the other are all fetched, though earlier ones are there`()
        async throws
    {
        try await withRunBench(catalog) { bench in
            let run = start(try request("1"), bench)
            try await bench.waitUntilHeld(25_000, of: 1)
            for section in 2...5 {
                try await bench.ask("\(section)")
                try await waitUntil("it is there") {
                    try await bench.withStore { try await $0.filePaths() }.count == section - 1
                }
            }
            gate.open()
            #expect(try await run.value.summary.fetched == 5)
        }
    }

    @Test func `what is asked for as a run ends is done by it or by the next one`() async throws {
        try await withRunBench(catalog) { bench in
            gate.open()
            try await bench.run(limits: RunLimits(episodes: 0))
            for section in 2...6 {
                let planned = bench.events.value.count
                let run = start(try request("1"), bench)
                try await bench.events.waitUntil {
                    $0.dropFirst(planned).contains { if case .planned = $0 { true } else { false } }
                }
                try await bench.ask("\(section)")
                #expect(try await run.value.failures.isEmpty)
                let isLeft = try await !bench.requests().isEmpty
                #expect(try await (bench.shelved(section)?.file == nil) == isLeft, "\(section)")
            }
            #expect(try await start(try request("1"), bench).value.failures.isEmpty)
            #expect(try await bench.requests().isEmpty)
            #expect(try await bench.withStore { try await $0.filePaths() }.count == 6)
        }
    }

    @Test func `what a run is asked for is on record as long as it runs, and what others asked for stays`() async throws
    {
        try await withRunBench(.episodes(1)) { bench in
            let request = StoredRequest(.fetch, RunBench.book, filter: .init(latest: 2))
            try await LibrarySession.withLibrary(at: bench.library, command: "test") { session in
                let store = session.store
                func seen(_ isCalledOff: Bool = false, insteadOf ids: [Int64] = []) async throws -> [StoredRequest] {
                    try await session.asking(for: [request], insteadOf: ids, { isCalledOff }) { stored in
                        let open = try await store.requests()
                        #expect(open == stored)
                        return stored
                    }
                }
                #expect(try await seen().map(\.asAsked) == [request])
                #expect(try await store.requests().isEmpty)
                let others = try await store.ask([request])
                #expect(try await seen(true).map(\.id) == others)
                #expect(try await store.requests().map(\.id) == others)
                #expect(try await seen(insteadOf: others).map(\.id) != others)
                #expect(try await store.requests().isEmpty)
                // Somebody cancelled it while the library was opened.
                _ = try await store.changeRequests(adding: [StoredRequest(.cancel, RunBench.book)]) { $0 }
                #expect(try await seen().isEmpty)
            }
        }
    }

    @Test func `what a run does not come to see is given back`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            try await bench.run(limits: RunLimits(episodes: 0))
            try await bench.ask("3")
            let inbox = TransferInbox()
            try await bench.withStore { store in
                let feed = RequestFeed(of: bench.syncRun, store, inbox)
                let taken = try await feed.look()
                #expect(taken.count == 1)
                #expect(try await feed.look().isEmpty)
                feed.giveBack(taken)
                try await feed.end(leaving: [])
                #expect(try await store.requests().count == 1)
            }
            // Nobody keeps the engine waiting.
            #expect(!inbox.hold())
        }
    }

    @Test func `a cancellation is for one run`() async throws {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run(limits: RunLimits(episodes: 0))
            try await bench.withStore { try await $0.ask([StoredRequest(.cancel)]) }
            #expect(try await bench.withStore { try await $0.requests() } == [])
            #expect(try await bench.run().summary.fetched == 2)
        }
    }

    @Test(arguments: ["interrupted", "done"])
    func `what was asked for stays until a run has ended by itself that took it`(end: String) async throws {
        try await withRunBench(catalog, jobs: 1) { bench in
            try await bench.run(limits: RunLimits(episodes: 0))
            try await bench.ask("1")
            let run = start(try request("3"), bench)
            try await bench.waitUntilHeld(25_000, of: 1)
            #expect(try await bench.withStore { try await $0.requests().count } == 1)
            if end != "done" { run.cancel() }
            gate.open()
            _ = await run.result
            let left = try await bench.withStore { try await $0.requests().count }
            #expect(left == (end == "done" ? 0 : 1))
            guard end != "done" else { return }
            let next = start(try request("2"), bench)
            #expect(try await next.value.failures.isEmpty)
            #expect(try await bench.shelved(1)?.file != nil)
            #expect(try await bench.withStore { try await $0.requests().isEmpty })
        }
    }
}
