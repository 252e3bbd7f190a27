import BookModel
import CatalogFetcher
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles
import Logging
import Settings
import SyncPlanner

extension Configuration {
    /// Brings together what explains episodes, from the store, the disk and the planner; no request is ever sent.
    /// - Returns: an explanation for each episode that passes the filter, by section.
    /// - Throws: ``Failure`` of kind `unknownBook` when there is no library, or the book or section is not on the shelf.
    package func explain(
        _ book: BookIdentity, filter: EpisodeFilter, logger: Logger
    ) async throws -> [EpisodeExplanation] {
        try await LibraryFolder.reading(library) { try await explain(book, filter: filter, store: $0, logger: logger) }
    }

    private func explain(
        _ book: BookIdentity, filter: EpisodeFilter, store: CatalogStore, logger: Logger
    ) async throws -> [EpisodeExplanation] {
        let episodes = try await store.episodes(in: .books([(book: book, filter: filter)]))
        guard let shelf = try await store.books([book]).first else { throw Failure.notOnTheShelf(book) }
        let subscription = try allSubscriptions(with: try await store.subscriptions()).first { $0.book == book }
        let actions = try await plannedActions(book, subscription, logger)
        let partials = try await PartialSizes(library: library)
        let folders = Set(episodes.compactMap(\.file).map { String(splitLibraryPath($0.path).folder) })
        let scan = try await FolderScan.scan(folders: folders, under: library)
        let isRunUnderWay = try await LibraryLock.isHeld(in: library)
        let isMirrorUnderWay = try await LibraryLock.owner(in: library)?.mirrors == true
        let trashed = Set(try await store.trashedFiles(of: book).map(\.file.episode))
        var explanations: [EpisodeExplanation] = []
        for shelved in episodes {
            let identity = shelved.episode.identity
            var explanation = EpisodeExplanation(
                book: shelf.book, shelved: shelved, isFollowed: subscription != nil, actions: actions[identity] ?? [])
            explanation.partial = partials.bytesDone(of: shelved)
            explanation.existingFile = shelved.file.flatMap { scan[$0.path] }
            explanation.isBehindLink = shelved.file.map { scan.isBehindLink($0.path) } ?? false
            explanation.isInTrash = trashed.contains(identity)
            explanation.verifiedAt = try await store.lastVerified(identity)
            explanation.catalogChangedAt = shelf.updatedAt
            explanation.isOfDirectory = source(named: book.source)?.kind == .directory
            explanation.isRunUnderWay = isRunUnderWay
            explanation.isMirrorUnderWay = isMirrorUnderWay
            explanations.append(explanation)
        }
        return explanations
    }

    private func plannedActions(
        _ book: BookIdentity, _ subscription: Subscription?, _ logger: Logger
    ) async throws -> [EpisodeIdentity: [SyncAction]] {
        let items = subscription.map { self.items(of: [$0]) } ?? [.init(book: book)]
        let run = SyncRun(configuration: self, logger: logger) { _ in }
        var actions: [SyncAction] = []
        let request = try RunRequest(items: items, order: downloads.order)
        _ = try await run.plan(request, offline: true) { actions += $0.actions }
        return Dictionary(grouping: actions, by: \.episode.identity)
    }
}
