import BookModel
import CatalogFetcher
import Foundation
import Logging
import Support
import Testing
import Transport

@testable import BookSync
@testable import LibraryFiles
@testable import Settings

/// Runs over many books, of several servers.
@Suite(.full, .limitedConcurrency) struct ManyBooksTests {
    /// A server with books of one episode each, `1`, `2` and so on.
    private static func script(
        title: String = "第1集", size: Int? = nil, before: @escaping @Sendable (String, Reply) -> Reply = { $1 }
    ) -> ServerScript {
        ServerScript { request in
            guard request.path == "/catalog" else {
                return ServerScript.file(sampleMP3(bytes: 2000, seed: UInt64(request.path.count))).answer(request)
            }
            let book = request.query["bookId"] ?? ""
            let isFirst = request.query["pageNum"] == "1"
            let element =
                "{\"id\":\(book)01,\"section\":1,\"name\":\"\(title)\",\"path\":\"/audio/\(book).mp3\","
                + "\"size\":\(size.map(String.init) ?? "null")}"
            let list = "{\"status\":0,\"msg\":null,\"sections\":1,\"list\":[\(isFirst ? element : "")]}"
            return isFirst ? before(book, .text(list)) : .text(list)
        }
    }

    private func configuration(_ servers: [String: String], library: String) -> Configuration {
        var configuration = Configuration.builtIn
        configuration.library = library
        configuration.downloads.jobsPerHost = 2
        configuration.downloads.retries = 0
        configuration.downloads.minFreeSpace = 0
        for (name, url) in servers {
            var source = SourceConfiguration(name: name, kind: .bookResource)
            source.url = ResourceAddress(url)
            source.allowsPrivateAddresses = true
            configuration.sources[name] = source
        }
        return configuration
    }

    private func run(
        _ books: [String], title: String? = nil, _ configuration: Configuration,
        events: Watched<[SyncEvent]> = Watched([])
    ) async throws -> RunReport {
        let items = books.map { name in
            let parts = name.split(separator: ":").map(String.init)
            return RunRequest.Item(book: BookIdentity(source: parts[0], id: parts[1]), title: title ?? name)
        }
        let run = SyncRun(configuration: configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        { event in events.update { $0.append(event) } }
        let request = try RunRequest(items: items, bringsNewsFirst: true)
        return try await LibrarySession.withLibrary(at: configuration.library, command: "test") { session in
            try await run.execute(request, as: "mirror", in: session) { $0.isEmpty ? 0 : 75 }
        }
    }

    private func plans(_ events: Watched<[SyncEvent]>) -> [SyncPlan] {
        events.value.compactMap { if case .planned(let plan) = $0 { plan } else { nil } }
    }

    @Test func `case 44: a lost store finds all its books under a naming that was given up`() async throws {
        try await withTemporaryPath { (folder: String) in
            try await withServer(Self.script(size: 2000)) { server in
                var configuration = configuration(["a": server.url("/catalog")], library: folder + "/L")
                let books = (1...8).map { "a:\($0)" }
                #expect(try await run(books, configuration).summary.fetched == 8)
                try FileManager.default.removeItem(atPath: folder + "/L/.booksync")
                configuration.naming = try NamingTemplate(parsing: "shelf/{title}/{name}.{ext}")
                let report = try await run(books, configuration)
                #expect(report.summary.adopted == 8 && report.summary.fetched == 0, "\(report.summary)")
            }
        }
    }

    @Test func `when the time is up, what has answered gets its turn, and who never did is told of`()
        async throws
    {
        try await withTemporaryPath { (folder: String) in
            try await withServer(.always(.neverAnswer)) { silent in
                try await withServer(Self.script()) { other in
                    let configuration = configuration(
                        ["a": silent.url("/catalog"), "b": other.url("/catalog")], library: folder + "/L")
                    let items = ["a:1", "b:1", "a:2", "a:3", "b:2"].map { name in
                        RunRequest.Item(book: BookIdentity(source: "\(name.first!)", id: "\(name.last!)"), title: name)
                    }
                    let request = try RunRequest(items: items)
                    var plans: [String] = []
                    var outcomes: [CatalogRefresh.Outcome] = []
                    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                    try await withHTTPTransport(options: configuration.transportOptions, logger: logger) { transport in
                        let refresh = CatalogRefresh(
                            configuration: configuration, namings: try Namings(of: configuration), request: request,
                            store: nil, stores: false, transport: transport, outages: [:]
                        ) { _ in }
                        try await refresh.execute(within: 12) { assembled, _ in
                            plans.append("\(assembled.plan.book.identity)")
                        } onFinished: { outcome, _ in
                            outcomes.append(outcome)
                        }
                    }
                    let outcome = try #require(outcomes.first)
                    #expect(outcomes.count == 1)
                    #expect(plans.sorted() == ["b:1", "b:2"])
                    let told = outcome.troubles.reports(known: [:], at: .now)
                    #expect(told.map(\.report.failure.kind) == [.catalogUnavailable])
                    #expect(told.first?.outage.subject == configuration.catalogServer(of: items[0].book))
                    #expect(told.first?.report.books.map(\.id) == ["1", "2"])
                    // A run that has not checked a book is not done, and says so also with --quiet.
                    let failures = Watched<[String]>([])
                    var report = RunReport()
                    report.record(outcome, known: [:]) { event in
                        if case .failed(let report) = event { failures.update { $0.append("\(report.failure)") } }
                    }
                    #expect(outcome.left.count == 1 && report.failures.map(\.kind).contains(.temporary))
                    #expect(failures.value.contains { $0.hasPrefix("1 book not checked: the time limit was reached") })
                }
            }
        }
    }

    @Test func `catalogs of several servers are asked at once, of one server a few`() async throws {
        let gate = Gate()
        let script = Self.script { _, reply in
            var reply = reply
            reply.ending = .stallAfter(bytes: 1, until: gate)
            return reply
        }
        try await withTemporaryPath { (folder: String) in
            try await withServer(script) { one in
                try await withServer(script) { other in
                    let configuration = configuration(
                        ["a": one.url("/catalog"), "b": other.url("/catalog")], library: folder + "/L")
                    let books = ["a:1", "a:2", "a:3", "b:1", "a:4", "b:2", "b:3"]
                    let events = Watched<[SyncEvent]>([])
                    async let report = run(books, configuration, events: events)
                    try await one.waitUntil { $0.requests.count == 2 }
                    try await other.waitUntil { $0.requests.count == 2 }
                    #expect(one.record.requests.count == 2)
                    gate.open()
                    #expect(try await report.summary.fetched == 7)
                    #expect(plans(events).map(\.book.title).sorted() == books.sorted())
                }
            }
        }
    }

    @Test func `a book is fetched when its own catalog has been read, whatever the others do`() async throws {
        let gate = Gate()
        let script = Self.script { book, reply in
            guard book == "1" else { return reply }
            var reply = reply
            reply.ending = .stallAfter(bytes: 1, until: gate)
            return reply
        }
        try await withTemporaryPath { (folder: String) in
            try await withServer(script) { server in
                let configuration = configuration(["a": server.url("/catalog")], library: folder + "/L")
                async let report = run(["a:1", "a:2", "a:3"], configuration)
                try await waitUntil("the others are there") {
                    try FileManager.default.subpathsOfDirectory(atPath: folder).count { $0.hasSuffix(".mp3") } == 2
                }
                gate.open()
                #expect(try await report.summary.fetched == 3)
            }
        }
    }

    @Test(arguments: ["1", "2"])
    func `which book gets a name that two want does not depend on which catalog answers first`(
        _ slow: String
    ) async throws {
        let gate = Gate()
        let script = Self.script { book, reply in
            guard book == slow else { return reply }
            var reply = reply
            reply.ending = .stallAfter(bytes: 1, until: gate)
            return reply
        }
        try await withTemporaryPath { (folder: String) in
            try await withServer(script) { server in
                let configuration = configuration(["a": server.url("/catalog")], library: folder + "/L")
                let events = Watched<[SyncEvent]>([])
                async let report = run(["a:1", "a:2"], title: "Twins", configuration, events: events)
                // The quick one's second page, which has nothing.
                try await server.waitUntil { record in
                    record.requests.contains { $0.query["bookId"] != slow && $0.query["pageNum"] == "2" }
                        || record.requests.contains { $0.query["bookId"] == slow }
                            && record.exchanges.contains { $0.request.query["bookId"] != slow && $0.bodyBytesSent > 0 }
                }
                gate.open()
                #expect(try await report.summary.fetched == 2)
                let paths = plans(events).compactMap(\.actions.first?.path)
                #expect(paths.first == "Twins/001 第1集.mp3")
                #expect(Set(paths).count == 2)
            }
        }
    }

    @Test func `a server that is down is one failure, and the books of others are fetched`() async throws {
        try await withTemporaryPath { (folder: String) in
            try await withRefusingPort { refusing in
                try await withServer(Self.script()) { server in
                    let sources = ["a": server.url("/catalog"), "b": "http://127.0.0.1:\(refusing)/catalog"]
                    let configuration = configuration(sources, library: folder + "/L")
                    let books = (1...9).map { "b:\($0)" } + ["a:1"] + (10...12).map { "b:\($0)" }
                    let first = try await run(books, configuration)
                    #expect(first.summary.fetched == 1)
                    #expect(first.summary.failed == 12)
                    #expect(first.failures.count == 1)
                    let what = first.failures.first?.what.description
                    #expect(what?.contains("the catalogs of 12 books cannot be fetched") == true)
                    let second = try await run(books, configuration)
                    #expect(second.failures.first?.why.description.contains("1 of them was tried") == true)
                    #expect(second.failures.first?.why.description.contains(", 2 runs") == true)
                }
            }
        }
    }

    @Test func `a source that cannot be used does not stop the others`() async throws {
        try await withTemporaryPath { (folder: String) in
            try await withServer(Self.script()) { server in
                var configuration = configuration(
                    ["a": server.url("/catalog"), "b": server.url("/catalog")], library: folder + "/L")
                configuration.sources["b"]?.unsetVariables = [.init(name: "TOKEN", file: "f", line: 3)]
                let report = try await run(["b:1", "b:2", "a:1", "c:1"], configuration)
                #expect(report.summary.fetched == 1)
                #expect(report.failures.map(\.kind) == [.configuration, .configuration])
                #expect(report.summary.failed == 3)
            }
        }
    }

    @Test func `what a catalog dropped is told although the run ends before the book's turn`() async throws {
        let isAnother = Watched(false)
        let another = "{\"id\":999,\"section\":2,\"name\":\"另一集\",\"path\":\"/audio/9.mp3\"}"
        let script = Self.script { _, reply in
            isAnother.value ? .text("{\"status\":0,\"msg\":null,\"sections\":1,\"list\":[\(another)]}") : reply
        }
        try await withTemporaryPath { (folder: String) in
            try await withServer(.always(.neverAnswer)) { silent in
                try await withServer(script) { other in
                    var configuration = configuration(
                        ["a": silent.url("/catalog"), "b": other.url("/catalog")], library: folder + "/L")
                    configuration.onCatalogRemoval = .report
                    #expect(try await run(["b:1"], configuration).summary.fetched == 1)
                    isAnother.update { $0 = true }
                    let (events, settings) = (Watched<[SyncEvent]>([]), configuration)
                    let interrupted = Task { try await run(["a:1", "b:1"], settings, events: events) }
                    try await events.waitUntil { events in
                        events.contains {
                            if case .notice(let text) = $0 {
                                text.description.contains("no longer lists")
                            } else {
                                false
                            }
                        }
                    }
                    interrupted.cancel()
                    _ = await interrupted.result
                }
            }
        }
    }

    @Test func `a catalog that answers too late is not waited for beyond the time limit`() async throws {
        try await withTemporaryPath { (folder: String) in
            try await withServer(.always(.neverAnswer)) { server in
                let configuration = configuration(["a": server.url("/catalog")], library: folder + "/L")
                let request = try RunRequest(
                    items: [.init(book: BookIdentity(source: "a", id: "1"))], limits: RunLimits(seconds: 0.3))
                let run = SyncRun(
                    configuration: configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                ) { _ in }
                let report = try await LibrarySession.withLibrary(at: configuration.library, command: "test") {
                    try await run.execute(request, in: $0)
                }
                // Else it would be one that the server stopped sending.
                #expect(report.failures.map(\.why) == ["it did not answer before the time was up"])
                #expect(report.failures.map(\.kind) == [.catalogUnavailable])
                #expect(report.summary.fetched == 0)
            }
        }
    }
}
