import BookModel
import DownloadEngine
import Foundation
import LibraryFiles
import Logging
import Settings
import Support
import Testing

@testable import BookSync

@Suite(.limitedConcurrency) struct RunQueueTests {
    @Test func `a run that fails before the library can record it is told among the runs`() async throws {
        try await withTemporaryPath { folder in
            var configuration = Configuration.builtIn
            configuration.library = folder + "/unmounted/L"
            let (failures, failed) = AsyncStream.makeStream(of: Failure.self)
            let desk = RunQueue(
                configuration, knownLibraries: nil, logger: Logger(label: "test"),
                host: Host(
                    executing: { _, _, _, _ in Issue.record("nothing can be executed") },
                    onFailure: { failed.yield($0) }))
            let working = Task { await desk.work() }
            await desk.mirrorNow()
            let failure = try #require(await failures.first { _ in true })
            let run = try #require(try await ServedShelf(configuration, desks: [desk]).runs(last: 5).runs.first)
            #expect(run.state == .ended && run.record.command == "mirror" && run.record.exitCode == 73)
            #expect(run.record.error == failure.message)
            working.cancel()
            await working.value
        }
    }

    /// Does the runs of a queue as a test has it.
    private struct Host: RunHost {
        var beforeCatalogs: @Sendable () async throws -> Void = {}
        var executing: @Sendable (RunRequest, String, Configuration, LibrarySession) async throws -> Void
        var onFailure: @Sendable (Failure) -> Void

        func execute(
            _ request: RunRequest, as command: String, _ configuration: Configuration, in session: LibrarySession
        ) async throws -> RunReport {
            try await executing(request, command, configuration, session)
            return RunReport()
        }

        func withCatalogs<Answer: Sendable>(
            _ configuration: Configuration, for books: [BookIdentity],
            _ body: @Sendable (Configuration) async throws -> Answer
        ) async throws -> Answer {
            try await beforeCatalogs()
            return try await body(configuration)
        }

        func report(_ failure: Failure) async { onFailure(failure) }

        func exitCode(of failure: Failure) -> Int { failure.kind == .libraryUnwritable ? 73 : 70 }

        func reportWaiting(_ why: Message) async {}
    }

    /// A run as the queue has it done.
    private struct Run: Sendable, Equatable {
        var command: String
        var books: Int
        /// What joined it, where it looks at that.
        var joined: [BookIdentity] = []
    }

    private static func feed(_ name: String) -> RunRequest.Item {
        .init(book: BookIdentity(source: "feed", id: "https://example.org/\(name).xml"))
    }

    /// A queue of a library that follows a list of feeds, whose runs do nothing.
    /// - Parameters:
    ///   - listens: which of its runs look at what joins them.
    ///   - onRun: is called before each run, with its number from 1.
    private func withQueue(
        feeds: Int, turns: Slots = Slots(count: 1), listens: @escaping @Sendable (Int) -> Bool = { _ in false },
        onRun: @escaping @Sendable (Int, RunQueue) async throws -> Void = { _, _ in },
        _ body: (RunQueue, Watched<[Run]>) async throws -> Void
    ) async throws {
        let outlines = (0..<feeds).map { "<outline xmlUrl=\"https://example.org/feeds/\($0).xml\"/>" }
        let list = "<opml version=\"2.0\"><body>\(outlines.joined())</body></opml>"
        try await withServer(.always(.text(list, type: "text/x-opml"))) { server in
            try await withTemporaryPath { folder in
                var configuration = Configuration.builtIn
                configuration.library = folder + "/L"
                let followed = Subscription(book: BookIdentity(source: "feed", id: "opml:\(server.url("/list.opml"))"))
                try await SubscriptionBook.open(of: configuration) { _ = try await $0.subscribe(followed) }
                let (runs, begun, known) = (Watched<[Run]>([]), Watched(0), Watched<RunQueue?>(nil))
                let desk = RunQueue(
                    configuration, knownLibraries: nil, logger: Logger(label: "test"), turns: turns,
                    host: Host(
                        beforeCatalogs: {
                            let number = begun.update { count in
                                count += 1
                                return count
                            }
                            if let desk = known.value { try await onRun(number, desk) }
                        },
                        executing: { request, command, configuration, session in
                            var run = Run(command: command, books: request.items.count)
                            if listens(begun.value) {
                                let sync = SyncRun(
                                    configuration: configuration, logger: Logger(label: "test"), emit: { _ in })
                                let feed = RequestFeed(of: sync, session.store, TransferInbox())
                                run.joined = try await feed.look().flatMap(\.items).map(\.book)
                                try await feed.end(leaving: [])
                            }
                            runs.update { [run] in $0.append(run) }
                        },
                        onFailure: { Issue.record("\($0)") }))
                known.update { $0 = desk }
                let working = Task { await desk.work() }
                try await body(desk, runs)
                working.cancel()
                await working.value
            }
        }
    }

    /// Asks for two books, and calls one of them off.
    private static func askForOne(_ desk: RunQueue) async throws {
        for name in ["kept", "dropped"] { try await desk.fetch([feed(name)], force: false) }
        #expect(try await desk.cancel(.books([(feed("dropped").book, EpisodeFilter())])) == 1)
    }

    @Test(arguments: [true, false])
    func
        `what is asked for between two runs of a mirror joins the next or is a run of its own, and what is cancelled is not`(
            isNoticed: Bool
        ) async throws
    {
        let listens: @Sendable (Int) -> Bool = { isNoticed && $0 == 2 }
        let onRun: @Sendable (Int, RunQueue) async throws -> Void = { number, desk in
            if number == 2 { try await Self.askForOne(desk) }
        }
        try await withQueue(feeds: 501, listens: listens, onRun: onRun) { desk, runs in
            try await desk.mirror()
            let mirrors = [Run(command: "mirror", books: 500), Run(command: "mirror", books: 1)]
            var expected = mirrors
            if isNoticed {
                expected[1].joined = [Self.feed("kept").book]
            } else {
                expected.append(Run(command: "fetch", books: 1))
            }
            try await runs.waitUntil { [expected] in $0.count >= expected.count }
            #expect(runs.value == expected)
        }
    }

    @Test(arguments: ["join", "mirror"])
    func `what is asked for while a run waits is fetched, and what is cancelled is not`(command: String) async throws {
        let (turns, gate) = (Slots(count: 1), Gate())
        async let other: Void = turns.withSlot { try await waitUntil("the gate opens") { gate.isOpen } }
        let listens: @Sendable (Int) -> Bool = { _ in command == "mirror" }
        try await withQueue(feeds: 1, turns: turns, listens: listens) { desk, runs in
            if command == "join" { try await desk.join(Self.feed("joined").book) } else { try await desk.mirror() }
            try await waitUntil("it has the library") {
                try await LibraryLock.isHeld(in: desk.configuration.library)
            }
            try await Self.askForOne(desk)
            gate.open()
            try await runs.waitUntil { !$0.isEmpty }
            #expect(
                runs.value == [
                    command == "join"
                        ? Run(command: "fetch", books: 1)
                        : Run(command: "mirror", books: 1, joined: [Self.feed("kept").book])
                ])
        }
        try await other
    }
}
