import BookModel
import CFileSystem
import CatalogFetcher
import CatalogStore
import DownloadEngine
import Foundation
import Logging
import Support
import Testing

@testable import BookSync
@testable import LibraryFiles
@testable import Settings

/// A library, a configured source and the server behind it, for whole runs.
struct RunBench: Sendable {
    static let book = BookIdentity(source: "kting", id: "30776")

    let server: MisbehavingServer
    let catalog: Watched<ScriptedCatalog>
    var configuration: Configuration
    let events = Watched<[SyncEvent]>([])
    var notices: [String] {
        events.value.compactMap { if case .notice(let text) = $0 { text.description } else { nil } }
    }

    var library: String { configuration.library }
    var audioRequests: [ServerRequest] { server.record.requests.filter { $0.path.hasPrefix("/audio/") } }
    /// Of these, those that ask for the audio itself, and not only how long it is.
    var audioDownloads: Int { audioRequests.count { $0.method == "GET" } }
    /// Body bytes of audio that the server gave away.
    var audioBytesSent: Int {
        server.record.exchanges.reduce(0) { $0 + ($1.request.path.hasPrefix("/audio/") ? $1.bodyBytesSent : 0) }
    }

    /// One run as `fetch` makes it.
    @discardableResult
    func run(
        title: String? = "Book", only sections: String? = nil, order: TransferOrder = .first, force: Bool = false,
        limits: RunLimits = .init(), knownLibraries: KnownLibraries? = nil
    ) async throws -> RunReport {
        let request = try request(title: title, only: sections, order: order, force: force, limits: limits)
        let planned = planned
        let report = try await LibrarySession.withLibrary(at: library, command: "test", knownLibraries: knownLibraries)
        { session in
            try await syncRun.execute(request, in: session)
        }
        if self.planned > planned, !report.failures.contains(where: { $0.disposition == .stop }), !Task.isCancelled {
            let listed = try await withStore { try await $0.episodes(of: Self.book).count }
            #expect(report.summary.episodes == listed, "\(report.summary)")
        }
        return report
    }

    /// The same, recorded as a run of `fetch`.
    @discardableResult
    func runRecorded() async throws -> RunReport {
        try await LibrarySession.withLibrary(at: library, command: "test") { session in
            try await syncRun.execute(try request(title: "Book"), as: "fetch", in: session, exitCode: { _ in 0 })
        }
    }

    /// Where the first plan wants the episodes to be, by section.
    var plannedPaths: [Int: String] {
        let plan = events.value.lazy.compactMap { if case .planned(let plan) = $0 { plan } else { nil } }.first
        return Dictionary(plan?.actions.map { ($0.episode.section, $0.path) } ?? []) { first, _ in first }
    }

    private var planned: Int { events.value.count { if case .planned = $0 { true } else { false } } }

    /// What a run would do now.
    func plan(title: String = "Book") async throws -> SyncPlan? {
        var plans: [SyncPlan] = []
        _ = try await syncRun.plan(try request(title: title), offline: false) { plans.append($0) }
        return plans.first
    }

    private func request(
        title: String?, only sections: String? = nil, order: TransferOrder = .first, force: Bool = false,
        limits: RunLimits = .init()
    ) throws -> RunRequest {
        let filter = EpisodeFilter(only: try sections.map(SectionRanges.init(parsing:)))
        let item = RunRequest.Item(book: Self.book, filter: filter, title: title)
        return try RunRequest(items: [item], order: order, force: force, limits: limits)
    }

    /// The user's words, as another process says them while a run is under way.
    func control<Value: Sendable>(
        _ body: (TransferControl) async throws -> Value
    ) async throws -> Value {
        try await TransferControl.open(in: library, body)
    }

    /// Asks for episodes as another process does.
    func ask(_ sections: String, force: Bool = false) async throws {
        let filter = EpisodeFilter(only: try SectionRanges(parsing: sections))
        _ = try await control { try await $0.ask([StoredRequest(.fetch, Self.book, filter: filter, force: force)]) }
    }

    /// What was asked for and no run has done.
    func requests() async throws -> [StoredRequest] { try await withStore { try await $0.requests() } }

    var wholeBook: TransferControl.Scope { .books([(book: Self.book, filter: EpisodeFilter())]) }

    /// Names sections of the book.
    func sections(_ sections: ClosedRange<Int>) -> TransferControl.Scope {
        .books([(book: Self.book, filter: EpisodeFilter(only: SectionRanges([sections])))])
    }

    var listings: Int { server.requests(path: "/catalog").count { $0.query["pageNum"] == "1" } }

    var syncRun: SyncRun {
        let events = events
        return SyncRun(
            configuration: configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { event in
            events.update { $0.append(event) }
        }
    }

    // MARK: What is in the store and on disk

    @discardableResult
    func withStore<Value: Sendable>(_ body: (CatalogStore) async throws -> Value) async throws -> Value {
        let store = try await CatalogStore(
            path: LibraryFolder.existing(at: library).storePath, access: .readWrite)
        let value = try await body(store)
        try await store.close()
        return value
    }

    func shelved(_ section: Int) async throws -> EpisodeRecord? {
        try await withStore { try await $0.episode(section: section, of: Self.book) }
    }

    /// Absolute path of an episode's recorded file.
    func recordedPath(_ section: Int) async throws -> String? {
        try await shelved(section)?.file.map { library + "/" + $0.path }
    }

    func bytes(_ section: Int) async throws -> [UInt8]? {
        guard let path = try await recordedPath(section), FileManager.default.fileExists(atPath: path) else {
            return nil
        }
        return try read(path)
    }

    func read(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

    func partialFile(_ section: Int, of book: BookIdentity = Self.book) -> String {
        let identity = EpisodeIdentity(book: book, key: String(301_500_957 + section))
        return LibraryFolder.existing(at: library).partialFolder + "/" + PartialFile.name(for: identity)
    }

    /// Returns when the partial file of an episode has so many bytes: what the server sent may still be on its way.
    func waitUntilHeld(_ count: Int, of section: Int, ofBook book: BookIdentity = Self.book) async throws {
        try await waitUntil("\(count) bytes are held") {
            let path = partialFile(section, of: book)
            return try unlessRemoved { try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int } == count
        }
    }

    func partialNames() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: LibraryFolder.existing(at: library).partialFolder)
    }

    /// Takes what files say of themselves from them, as if they lay on a file system that keeps no such attributes.
    func removeMarks() throws {
        for case let path as String in FileManager.default.enumerator(atPath: library) ?? .init() {
            let (file, attribute) = ("\(library)/\(path)", "user.booksync")
            #if canImport(Darwin)
                removexattr(file, attribute, XATTR_NOFOLLOW)
            #else
                lremovexattr(file, attribute)
            #endif
        }
    }

    /// The reasons of the last plan, by section.
    var lastPlan: [Int: SyncAction] {
        for case .planned(let plan) in events.value.reversed() {
            return Dictionary(plan.actions.map { ($0.episode.section, $0) }) { first, _ in first }
        }
        return [:]
    }
}

/// - Parameter library: absolute path of a folder to use instead of a temporary one.
func withRunBench(
    _ catalog: ScriptedCatalog, jobs: Int = 2, retries: Int = 0, library: String? = nil,
    minFreeSpace: Int64 = 0, isolation: isolated (any Actor)? = #isolation, _ body: (RunBench) async throws -> Void
) async throws {
    let catalog = Watched(catalog)
    try await withServer(ServerScript { catalog.value.answer(to: $0) }) { server in
        try await withTemporaryPath { (folder: String) in
            var configuration = Configuration.builtIn
            configuration.library = library ?? folder + "/Audiobooks"
            configuration.defaultSource = "kting"
            configuration.downloads.jobs = jobs
            configuration.downloads.retries = retries
            configuration.downloads.minFreeSpace = minFreeSpace
            var source = SourceConfiguration(name: "kting", kind: .bookResource)
            source.url = server.address("/catalog")
            source.allowsPrivateAddresses = true
            configuration.sources["kting"] = source
            try await body(RunBench(server: server, catalog: catalog, configuration: configuration))
        }
    }
}

extension RunSummary {
    /// All episodes that the run looked at, whatever came of them.
    var episodes: Int {
        fetched + resumed + replaced + renamed + adopted + kept + locked + failed + heldBack + paused + removed + gone
            + filtered + expired + left
    }
}
