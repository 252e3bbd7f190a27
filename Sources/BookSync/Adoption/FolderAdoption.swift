import BookModel
import CatalogFetcher
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles
import Logging
import Settings
import SyncPlanner
import Transport

/// Recognises the files of a folder as episodes of a book, by the same measures as a run does, and by number and name
/// as well: here the user says which book it is.
///
/// Nothing in the folder is changed but what `move` takes away, and that only once it is in its place.
package struct FolderAdoption: Sendable {
    private let configuration: Configuration
    private let logger: Logger
    private let emit: @Sendable (SyncEvent) -> Void

    package init(configuration: Configuration, logger: Logger, emit: @escaping @Sendable (SyncEvent) -> Void) {
        (self.configuration, self.logger, self.emit) = (configuration, logger, emit)
    }

    /// Looks at what is asked for before a library is begun for it.
    /// - Throws: ``Failure`` of kind `usage` when the folder cannot be adopted, or not in this way.
    package func check(_ request: AdoptionRequest) async throws {
        _ = try await folder(of: request, stores: true)
    }

    /// Says what would be adopted, and changes nothing.
    package func plan(_ request: AdoptionRequest) async throws -> AdoptionReport {
        try await LibraryFolder.withReadableStore(in: configuration.library) {
            try await recognise(request, store: $0, stores: false)
        }
    }

    /// Adopts what is recognised.
    package func execute(_ request: AdoptionRequest, in session: LibrarySession) async throws -> AdoptionReport {
        for notice in session.notices { emit(.notice(notice)) }
        var report = try await recognise(request, store: session.store, stores: true)
        let placement = AdoptedFilePlacement(
            folder: request.folder ?? "", way: report.way, library: session.folder, store: session.store)
        for index in report.recognised.indices {
            try Task.checkCancellation()
            let item = report.recognised[index]
            do {
                let file = try await placement.adopt(item)
                emit(
                    .adopted(
                        AdoptionReceipt(
                            section: item.episode.section, name: item.episode.name, file: file,
                            reason: item.confidence.words)))
            } catch let failure as Failure {
                report.recognised[index].failure = failure
                emit(.failed(FailureReport(item.episode, failure)))
                if failure.disposition == .stop { throw failure }
            }
        }
        try await session.store.remove(report.fetchedBefore.map(\.identity), at: Date(), by: .imported)
        return report
    }

    // MARK: - Recognising

    private func recognise(
        _ request: AdoptionRequest, store: CatalogStore?, stores: Bool
    ) async throws -> AdoptionReport {
        let source = try await folder(of: request, stores: stores)
        let way = request.way ?? .inPlace
        let refreshed = try await refreshed(request, store: store, stores: stores)
        let known = try await store?.episodes(of: request.book) ?? []
        let episodes = refreshed.shelved(with: known)
        let recorded = episodes.recordedPaths
        let assembly = PlanAssembly(
            configuration, namings: try Namings(of: configuration), request: try RunRequest(items: []), store: store)
        let (paths, others) = try await assembly.paths(
            for: episodes.map(\.episode), of: refreshed.book, recorded: recorded, claimed: [])
        let folders = Set((Array(paths.values) + recorded.values).map { String(splitLibraryPath($0).folder) })
        let scan = try await FolderScan.scan(folders: folders, under: configuration.library)

        var report = AdoptionReport(book: refreshed.book, way: way, isDryRun: !stores)
        let owned = others.union(recorded.values).union(try await othersBelow(source, of: request.book, store: store))
        let found = try await source?.files() ?? [:]
        let files = found.filter { path, _ in source?.isRecorded(path, among: owned) != true }
        report.known = found.count - files.count
        let listed = episodes.filter { !$0.isGone }
        let records = request.records.map {
            RecordedEpisodes($0, of: listed.map(\.episode), paths: Set(files.keys.filter(AdoptedFolder.isAudio)))
        }
        let wanting = listed.filter { shelved in
            shelved.file.map { scan[$0.path] == nil } ?? true
                && records?.episodes.contains(shelved.episode.identity) ?? true
        }
        let matcher = try await matcher(
            wanting.map(\.episode), of: refreshed.book, files: files, in: request.folder, claims: records?.files ?? [:])
        for match in matcher.matches {
            let key = match.episode.identity.key
            let path = way == .inPlace ? source?.libraryPath(of: match.path) ?? match.path : paths[key] ?? match.path
            report.recognised.append(
                .init(
                    episode: match.episode, from: match.path, path: path, size: files[match.path]?.size ?? 0,
                    confidence: match.confidence))
        }
        report.ambiguous = matcher.ambiguous.sorted { $0.key < $1.key }.map { (path: $0.key, episodes: $0.value) }
        let spokenOf = Set(matcher.matches.map(\.path)).union(matcher.ambiguous.keys)
        report.unmatched = files.keys.filter { AdoptedFolder.isAudio($0) && !spokenOf.contains($0) }.sorted()
        if let records {
            // A file that is no audio, whatever was recorded, is none: the episode is still to be fetched.
            let held = Set(matcher.matches.map(\.episode.identity)).union(records.files.values)
            report.fetchedBefore = wanting.filter { shelved in
                shelved.file == nil && shelved.removedAt == nil && !held.contains(shelved.episode.identity)
            }.map(\.episode)
            // What is on the shelf already needs no other file.
            let open = Set(wanting.map(\.episode.identity))
            report.unmatched.removeAll { records.files[$0].map { !open.contains($0) } ?? true }
            report.unlisted = records.unlisted
        }
        return report
    }

    private func folder(of request: AdoptionRequest, stores: Bool) async throws -> AdoptedFolder? {
        guard let path = request.folder else { return nil }
        let source = try await AdoptedFolder(path, library: configuration.library)
        if request.way ?? .inPlace == .inPlace, source.pathInLibrary == nil, stores || request.way != nil {
            throw Failure(
                .usage, what: "\(path) cannot be adopted where it is",
                why: "it is not in the library \(configuration.library)", remedy: "say --link, --copy or --move")
        }
        return source
    }

    private func refreshed(
        _ request: AdoptionRequest, store: CatalogStore?, stores: Bool
    ) async throws -> RefreshedBook {
        try await withHTTPTransport(options: configuration.transportOptions, logger: logger) { transport in
            let source = try configuration.catalogSource(for: request.book, transport: transport)
            let refreshed = try await source.refresh(
                request.book, title: request.title, known: try await store?.book(request.book), store: store,
                stores: stores)
            for warning in refreshed.proof.warnings { emit(.notice("\(request.book): \(warning)")) }
            return refreshed
        }
    }

    /// What is recorded for other books in the folder itself, where that is in the library.
    private func othersBelow(
        _ source: AdoptedFolder?, of book: BookIdentity, store: CatalogStore?
    ) async throws -> Set<String> {
        guard let store, let source, let folder = source.pathInLibrary else { return [] }
        let below = try await FolderScan.scanTrees([""], under: source.path).filter { $0.value.kind == .folder }
        return try await store.pathsOfOthers(
            than: book, in: Set(below.keys.compactMap(source.libraryPath(of:))).union([folder]))
    }

    private func matcher(
        _ episodes: [Episode], of book: Book, files: [String: FileAttributes], in folder: String?,
        claims: [String: EpisodeIdentity]
    ) async throws -> EpisodeMatcher {
        var examined: [String: ExaminedFile] = [:]
        var asked: [String: ProbeDepth] = [:]
        while true {
            let matcher = EpisodeMatcher(
                episodes, of: book, among: files, examined: examined, claims: claims, least: .name,
                isCandidate: AdoptedFolder.isAudio)
            // What has no answer cannot be read; asking again does not help.
            let open = matcher.questions.filter { asked[$0.key] != $0.value }
            guard !open.isEmpty, let folder else { return matcher }
            asked.merge(open) { _, new in new }
            examined.merge(try await FileExamination.examine(open, in: folder)) { _, new in new }
        }
    }
}
