import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles

/// What the user does to transfers and files by hand, also while a run of another process is under way: the run
/// reads the words from the store and obeys.
package struct TransferControl: Sendable {
    /// What the words are about.
    package enum Scope: Sendable {
        case everything
        /// What the queue shows, of these books or of all (nil): no cancelled transfer, and nothing that no run was to fetch.
        case queue(of: [BookIdentity]?)
        /// Books, each with the episodes meant; no filter means all.
        case books([(book: BookIdentity, filter: EpisodeFilter)])
        /// These and no others, though others may have their numbers.
        case episodes([EpisodeIdentity])

        /// Books of which all is meant, what the store does not know yet as well; nil for all books.
        package var wholeBooks: Set<BookIdentity>? {
            switch self {
            case .everything: nil
            case .queue(let books): books.map(Set.init)
            case .books(let books): Set(books.lazy.filter(\.filter.isEmpty).map(\.book))
            case .episodes: []
            }
        }
    }

    private let folder: LibraryFolder
    private let store: CatalogStore

    /// - Throws: ``Failure`` of kind `unknownBook` when there is no library yet.
    package static func open<Result: Sendable>(
        in library: String, _ body: (TransferControl) async throws -> Result
    ) async throws -> Result {
        try await LibraryFolder.reading(library) { _ in }
        let folder = try await LibraryFolder.open(at: library)
        return try await folder.writingStore { try await body(TransferControl(folder: folder, store: $0)) }
    }

    /// Has transfers wait, over runs, until they are resumed. What was received is kept.
    /// - Returns: how many were paused.
    package func pause(_ scope: Scope) async throws -> Int {
        try await store.pause(try await meant(scope).map(\.episode.identity))
    }

    /// The episodes that are meant.
    package func meant(_ scope: Scope) async throws -> [EpisodeRecord] { try await store.episodes(in: scope) }

    /// Those of them that ``resume(_:)`` would have wait for a run again.
    package func stopped(_ scope: Scope) async throws -> [EpisodeRecord] {
        try await meant(scope).filter { shelved in
            shelved.removedAt == nil
                && shelved.transfer.map { [.paused, .failed, .cancelled].contains($0.state) } == true
        }
    }

    /// Has the run under way, or the next one, fetch what is paused, failed or cancelled. Of a whole book, what was paused while no
    /// run was to fetch it is only paused no longer.
    /// - Returns: how many transfers that are.
    package func resume(_ scope: Scope) async throws -> Int {
        let stopped = try await stopped(scope)
        let (identities, whole) = (Set(stopped.map(\.episode.identity)), scope.wholeBooks)
        let count = try await store.resume(Array(identities))
        let asked = try await meant(scope).filter { meant in
            identities.contains(meant.episode.identity)
                && (meant.transfer != nil || whole?.contains(meant.episode.identity.book) == false)
        }
        if count > 0 { try await store.ask(StoredRequest.toFetch(asked)) }
        return count
    }

    /// Has the run under way, or the next one, do more.
    /// - Returns: the ids of the requests.
    @discardableResult
    package func ask(_ requests: [StoredRequest]) async throws -> [Int64] { try await store.ask(requests) }

    /// The episodes that are meant; nothing is written for it.
    package static func meant(_ scope: Scope, in library: String) async throws -> [EpisodeRecord] {
        try await LibraryFolder.reading(library) { try await $0.episodes(in: scope) }
    }

    /// Breaks transfers off and drops what they brought: first their bytes, so that a full disk can be cleared this way. What
    /// was asked for and has not begun is done no longer.
    ///
    /// - Parameter library: absolute path.
    /// - Returns: how many were broken off, and how many books that were still to be looked at.
    /// - Throws: ``Failure`` of kind `unknownBook` when there is no library, or what is meant is not on the shelf and was not
    ///   asked for.
    package static func cancel(_ scope: Scope, in library: String) async throws -> Int {
        let all = try await known(scope, in: library)
        let begun = all.filter { $0.transfer != nil }
        let folder = LibraryFolder.existing(at: library)
        if !begun.isEmpty {
            try await whileNobodyRuns(in: folder) {
                try await PartialFile.drop(begun.map(\.episode.identity), of: library)
            }
        }
        return try await open(in: library) { control in
            var books = try await control.cancelRequests(scope, meaning: all)
            let count = try await control.store.cancel(begun.map(\.episode.identity))
            books.subtract(begun.lazy.filter { $0.transfer?.state != .cancelled }.map(\.episode.identity.book))
            return count + books.count
        }
    }

    /// The episodes that are meant; of books that were only asked for none is known.
    package static func known(_ scope: Scope, in library: String) async throws -> [EpisodeRecord] {
        guard case .books(let books) = scope else { return try await meant(scope, in: library) }
        return try await LibraryFolder.reading(library) { store in
            let asked = Set(try await store.requests().compactMap(\.book))
            var all: [EpisodeRecord] = []
            for book in books {
                do {
                    all += try await store.episodes(in: .books([book]))
                } catch let failure as Failure where failure.kind == .unknownBook && asked.contains(book.book) {
                    continue
                }
            }
            return all
        }
    }

    /// What removing episodes came to.
    package struct Removal: Sendable {
        /// Episodes that were not removed before.
        package var episodes = 0
        /// Those of them that were neither on disk nor begun.
        package var neverFetched = 0
        /// Files that are in the trash now.
        package var files = 0
        /// Files that were not where they are recorded.
        package var absent = 0
        /// Files that the run under way, or the next one, moves to the trash.
        package var filesLeft = 0
        package var failures: [Failure] = []
    }

    /// Those of the episodes that ``remove(_:)`` would remove.
    package func removable(_ scope: Scope) async throws -> [EpisodeRecord] {
        try await meant(scope).filter(\.isRemovable)
    }

    /// Has episodes not be fetched again, and moves their files to the trash.
    package func remove(_ scope: Scope) async throws -> Removal {
        let all = try await meant(scope)
        let wanted = all.filter(\.isRemovable)
        let begun = wanted.filter { $0.transfer != nil }.map(\.episode.identity)
        // Plans that were made before do not know the tombstones.
        _ = try await cancelRequests(scope, meaning: all)
        _ = try await store.cancel(begun)
        var removal = Removal()
        var failed: Set<EpisodeIdentity> = []
        removal.neverFetched = wanted.count(where: \.isNeverFetched)
        removal.episodes = try await store.remove(wanted.map(\.episode.identity), at: Date())
        try await Self.whileNobodyRuns(in: folder) {
            try await PartialFile.drop(begun, of: folder.path)
            try await OperationExecution(library: folder.path, store: store).recover()
            let collected = try await Trash(library: folder.path, store: store).collect()
            // What others left is none of this command's.
            let own = Set(wanted.map(\.episode.identity))
            removal.files = collected.moved.count(where: own.contains)
            removal.absent = collected.absent.count(where: own.contains)
            let failures = collected.failures.filter { $0.episode.map(own.contains) ?? true }
            removal.failures = failures.map(\.failure)
            failed = Set(failures.compactMap(\.episode))
        }
        removal.filesLeft = try await removable(scope).count {
            $0.file != nil && !failed.contains($0.episode.identity)
        }
        return removal
    }

    /// Deletes the requests for these books, or for single episodes of them.
    ///
    /// A run under way gets cancellations: it may not have read the catalog yet.
    /// - Parameter episodes: the episodes in the scope.
    /// - Returns: the books that are no longer requested.
    private func cancelRequests(_ scope: Scope, meaning episodes: [EpisodeRecord]) async throws -> Set<BookIdentity> {
        let whole = scope.wholeBooks
        let sections = Dictionary(grouping: episodes, by: \.episode.identity.book)
            .mapValues { Set($0.map(\.episode.section)) }
        var cancellations: [StoredRequest] = []
        if try await LibraryLock.isHeld(in: folder.path) {
            let single = episodes.filter { whole?.contains($0.episode.identity.book) == false }
            cancellations = whole.map { $0.sorted().map { StoredRequest(.cancel, $0) } } ?? [StoredRequest(.cancel)]
            cancellations += single.map { StoredRequest(cancelling: $0.episode.identity) }
        }
        let gone = try await store.changeRequests(adding: cancellations) { request in
            guard request.kind != .cancel else { return request }
            guard let book = request.book else { return whole == nil ? nil : request }
            guard whole?.contains(book) == false else { return nil }
            guard let filter = request.filter.without(sections[book] ?? []) else { return nil }
            var request = request
            request.filter = filter
            return request
        }
        return Set(gone.filter { $0.kind != .join }.compactMap(\.book))
    }

    /// Forgets that episodes were removed, so that the next run fetches them again. No file is touched.
    /// - Returns: how many had been removed.
    package func forgetRemovals(_ scope: Scope) async throws -> Int {
        let removed = try await store.episodes(in: scope).filter { $0.removedAt != nil }
        return try await store.forgetRemovals(of: removed.map(\.episode.identity))
    }

    /// Partial files, and folders that something is about to come into, belong to the run while there is one; it drops
    /// the partial files that it is told to.
    private static func whileNobodyRuns(in folder: LibraryFolder, _ body: () async throws -> Void) async throws {
        let lock: LibraryLock
        do {
            lock = try await LibraryLock.acquire(in: folder, command: "cancel")
        } catch let failure as Failure where failure.reason == .libraryInUse {
            return
        }
        defer { lock.release() }
        try await body()
    }
}

extension EpisodeRecord {
    /// Whether it is neither on disk nor begun.
    package var isNeverFetched: Bool { file == nil && transfer == nil }

    fileprivate var isRemovable: Bool { removedAt == nil || file != nil }
}

extension CatalogStore {
    /// The episodes that are meant, by book and section.
    /// - Throws: ``Failure`` of kind `unknownBook` when a book is not on the shelf, or has none of the sections.
    package func episodes(in scope: TransferControl.Scope) async throws -> [EpisodeRecord] {
        switch scope {
        case .everything:
            var all: [EpisodeRecord] = []
            for shelved in try await books() { all += try await episodes(of: shelved.book.identity) }
            return all
        case .queue(let books):
            return try await unfinishedTransfers().filter { shelved in
                shelved.transfer?.state != .cancelled && books?.contains(shelved.episode.identity.book) ?? true
            }
        case .books(let books):
            var all: [EpisodeRecord] = []
            for (book, filter) in books {
                guard try await self.book(book) != nil else { throw Failure.notOnTheShelf(book) }
                let selected = try await episodes(of: book).selected(by: filter)
                guard !selected.isEmpty else { throw Failure.noSuchEpisode(of: book) }
                all += selected
            }
            return all
        case .episodes(let identities):
            var all: [EpisodeRecord] = []
            for identity in identities {
                guard let shelved = try await episode(identity) else {
                    throw Failure(
                        .unknownBook, what: "\(identity) was not found", why: "there is no such episode on the shelf",
                        remedy: "booksync list \(identity.book) lists what there is")
                }
                all.append(shelved)
            }
            return all
        }
    }
}
