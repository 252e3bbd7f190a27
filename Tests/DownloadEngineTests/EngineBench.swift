import BookModel
import BookSync
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles
import Logging
import Support
import Testing
import Transport

/// An engine with everything real around it: a library in a folder of its own, the store as its journal, HTTP over
/// loopback to a server that misbehaves as told.
struct EngineBench: Sendable {
    static let book = BookIdentity(source: "demo", id: "30776")

    let server: MisbehavingServer
    let library: URL
    private(set) var store: CatalogStore
    let transport: HTTPTransport
    let settings: EngineSettings
    let events = Watched<[SyncEvent]>([])

    var partialFolder: URL { library.appending(path: ".booksync/partial") }

    // MARK: Runs

    /// An episode whose audio the server has at the path.
    func episode(
        _ section: Int = 1, at path: String = "/a.mp3", size: Int64? = nil, digest: ContentDigest? = nil
    ) -> Episode {
        var episode = Episode.sample(section, book: Self.book, address: server.url(path), size: size)
        episode.digest = digest
        return episode
    }

    /// What a run that begins now asks of the engine: the journal is read anew.
    func request(
        _ episode: Episode, path: String? = nil, replacing: LocalFile? = nil, overwrites: Bool = false
    ) async throws -> TransferRequest {
        _ = try await store.merge([episode], startingAt: 0, of: Self.book)
        var request = TransferRequest(episode: episode, path: path ?? Self.path(of: episode))
        request.title = "Book"
        request.record = try await store.episode(episode.identity)?.transfer
        request.replacing = replacing
        request.overwrites = overwrites
        return request
    }

    static func path(of episode: Episode) -> String { "Book/\(episode.section).mp3" }

    /// A whole run for these episodes.
    func fetch(_ episodes: Episode...) async throws -> EngineReport {
        var requests: [TransferRequest] = []
        for episode in episodes { requests.append(try await request(episode)) }
        return await run(requests)
    }

    /// - Parameter journal: nil for the store.
    func run(_ requests: [TransferRequest], journal: (any TransferJournal)? = nil) async -> EngineReport {
        let inbox = TransferInbox()
        inbox.add(requests)
        return await engine(journal: journal).run(inbox)
    }

    /// - Parameter journal: nil for the store.
    func engine(journal: (any TransferJournal)? = nil) -> DownloadEngine {
        let events = events
        return DownloadEngine(
            transport: transport, journal: journal ?? store, library: library.path, partialFolder: partialFolder.path,
            settings: settings, logger: .silent
        ) { event in
            events.update { $0.append(event) }
        }
    }

    /// As after a run whose store is closed.
    func withReopenedStore(_ body: (EngineBench) async throws -> Void) async throws {
        var bench = self
        bench.store = try await CatalogStore(path: store.path, access: .readWrite)
        try await body(bench)
        try await bench.store.close()
    }

    /// Gives the body a store of its own on the same file, as another process has it.
    func inAnotherProcess<Value: Sendable>(_ body: (CatalogStore) async throws -> Value) async throws -> Value {
        let other = try await CatalogStore(path: store.path, access: .readWrite)
        let value = try await body(other)
        try await other.close()
        return value
    }

    // MARK: What is on disk and in the store

    /// The bytes of a file of the library; nil when there is none.
    func file(_ path: String = "Book/1.mp3") throws -> [UInt8]? { try contents(of: library.appending(path: path)) }

    /// The bytes held of an episode; nil when it has no partial file.
    func partial(of episode: Episode) throws -> [UInt8]? { try contents(of: partialFile(of: episode)) }

    func partialFile(of episode: Episode) -> URL {
        partialFolder.appending(path: PartialFile.name(for: episode.identity))
    }

    private func contents(of url: URL) throws -> [UInt8]? {
        try unlessRemoved { Array(try Data(contentsOf: url)) }
    }

    /// The names of the partial files.
    func partialNames() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: partialFolder.path) }

    /// Returns when the partial file has that length.
    func waitUntilHeld(_ length: Int, of episode: Episode) async throws {
        try await waitUntil("\(length) bytes are held") { try heldLength(of: episode) == length }
    }

    /// Returns when the parts of the file, wherever they are, have so many bytes together.
    func waitUntilAllHeld(_ length: Int, of episode: Episode) async throws {
        let path = partialFile(of: episode).path
        try await waitUntil("\(length) bytes are held in all") {
            (PartialNote.at(path)?.countOfParts?.all).map(Int.init) == length
        }
    }

    private func heldLength(of episode: Episode) throws -> Int? {
        let path = partialFile(of: episode).path
        if let parts = PartialNote.at(path)?.countOfParts { return Int(parts.front) }
        return try unlessRemoved { try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int }
    }

    func record(of episode: Episode) async throws -> TransferRecord? {
        try await store.episode(episode.identity)?.transfer
    }

    func recordedFile(of episode: Episode) async throws -> LocalFile? {
        try await store.episode(episode.identity)?.file
    }

    /// Leaves behind what a run leaves that was killed while it wrote.
    func leave(
        _ bytes: some Sequence<UInt8>, of episode: Episode, validator: ContentValidator = .served,
        total: Int64? = 120_000, committed: Int64 = 0, bootID: String? = BootIdentity.current
    ) async throws {
        _ = try await store.merge([episode], startingAt: 0, of: Self.book)
        try await store.save([
            TransferRecord(
                episode: episode.identity, state: .downloading, validator: validator, total: total,
                committedLength: committed, bootID: bootID)
        ])
        try Data(bytes).write(to: partialFile(of: episode))
    }
}

extension ContentValidator {
    /// As ``ServedFile`` sends it.
    static let served = ContentValidator(
        entityTag: "\"v1\"", lastModified: ServedFile.longAgo, age: 183_996_000)
}

extension Logger {
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

extension Reply {
    /// Gives at most so many bytes of a range, and says so.
    mutating func shortenPart(to limit: Int) {
        guard status == 206, body.count > limit, let range = headers.first(where: { $0.name == "Content-Range" })
        else { return }
        let first = Int(range.value.dropFirst(6).prefix { $0 != "-" }) ?? 0
        body = Array(body.prefix(limit))
        let total = range.value.drop { $0 != "/" }
        setHeader("Content-Range", "bytes \(first)-\(first + limit - 1)\(total)")
    }
}

extension SourceAccess {
    /// Of a source that leads to no private address.
    static let publicOnly = SourceAccess(privateAddresses: .ownOnly([]))
}

extension EngineReport {
    var outcomes: [TransferReceipt.Outcome] { receipts.map(\.outcome) }
    var sentences: [String] { failures.map(\.failure.description) }
}

/// Sets the bench up for the body and takes everything away afterwards.
func withBench(
    _ script: ServerScript, jobs: Int = 4, jobsPerHost: Int = 4, retries: Int = 3, firstWait: Double = 0.01,
    longestWait: Double = 0.02,
    stallTimeout: Double = 30, connectTimeout: Double = 10, limits: RunLimits = .init(), limitRate: Int64 = 0,
    sourceRates: [String: Int64] = [:],
    dividingFrom: Int64? = nil, proxies: [String: String] = [:],
    isolation: isolated (any Actor)? = #isolation,
    _ body: (EngineBench) async throws -> Void
) async throws {
    var settings = EngineSettings()
    (settings.jobs, settings.jobsPerHost) = (jobs, jobsPerHost)
    settings.retry = RetryPolicy(retries: retries, firstWait: firstWait, longestWait: longestWait)
    (settings.limits, settings.limitRate, settings.sourceRates) = (limits, limitRate, sourceRates)
    if let dividingFrom { settings.minDividedLength = dividingFrom }
    try await withTemporaryFolder { library in
        try FileManager.default.createDirectory(
            at: library.appending(path: ".booksync/partial"), withIntermediateDirectories: true)
        let store = try await CatalogStore(
            path: library.appending(path: ".booksync/store.sqlite").path, access: .readWrite)
        try await withServer(script) { server in
            let options = TransportOptions(
                connectTimeout: connectTimeout, stallTimeout: stallTimeout, proxies: ProxyEnvironment(proxies))
            try await withHTTPTransport(options: options, logger: .silent) { transport in
                try await body(
                    EngineBench(
                        server: server, library: library, store: store, transport: transport, settings: settings))
            }
        }
        try await store.close()
    }
}

/// Of the requests for the path, in order.
func ranges(_ server: MisbehavingServer, _ path: String = "/a.mp3") -> [String?] {
    server.requests(path: path).map { $0.header("Range") }
}
