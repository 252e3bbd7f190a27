import BookModel
import CatalogFetcher
import Foundation
import LibraryFiles
import Logging
import Settings
import SyncPlanner

/// Takes over what another program fetched, so that none of it is fetched again: its files are recognised as episodes, what
/// has no file any more counts as removed, and the feeds that it follows are subscribed to.
package struct LibraryImport: Sendable {
    /// What is to be taken over.
    package struct Request: Sendable {
        package var program: OtherProgram
        /// Absolute; of its records.
        package var path: String
        /// Nil for all that the program knows, and where it does not say which, for all that is subscribed to.
        package var books: [BookIdentity]?
        /// Absolute; where its files are now, nil where it says so itself.
        package var files: String?
        /// How they come into the library; nil where they are in it.
        package var way: AdoptionRequest.ImportMode?
        /// Whether mirror follows what the program followed.
        package var subscribes: Bool

        package init(
            program: OtherProgram, path: String, books: [BookIdentity]?, files: String?,
            way: AdoptionRequest.ImportMode?, subscribes: Bool
        ) {
            (self.program, self.path, self.books) = (program, path, books)
            (self.files, self.way, self.subscribes) = (files, way, subscribes)
        }
    }

    /// What became of one book.
    package struct Outcome: Sendable {
        package var book: BookIdentity
        package var title: String?
        /// Nil where the program did not follow it, or that was not asked for.
        package var subscription: SubscriptionImport.Outcome?
        package var adoption: Result<AdoptionReport, Failure>
    }

    /// Of a book whose records are read.
    private struct Book: Sendable {
        var adoption: AdoptionRequest
        /// What is to be subscribed to.
        var feed: OPMLFeed?
    }

    private let configuration: Configuration
    private let logger: Logger
    private let emit: @Sendable (SyncEvent) -> Void

    package init(configuration: Configuration, logger: Logger, emit: @escaping @Sendable (SyncEvent) -> Void) {
        (self.configuration, self.logger, self.emit) = (configuration, logger, emit)
    }

    private var adoption: FolderAdoption { FolderAdoption(configuration: configuration, logger: logger, emit: emit) }

    /// Says what would be taken over, and changes nothing.
    package func plan(_ request: Request, environment: [String: String]) async throws -> [Outcome] {
        var outcomes: [Outcome] = []
        for book in try await books(of: request, environment: environment) {
            outcomes.append(try await outcome(book, subscription: nil) { try await adoption.plan($0) })
        }
        return outcomes
    }

    /// Takes it over, book by book; what fails for one leaves the others alone.
    /// - Parameters:
    ///   - knownLibraries: what is remembered of libraries.
    ///   - wait: seconds to wait for another run to end.
    package func execute(
        _ request: Request, environment: [String: String], knownLibraries: KnownLibraries?, waitingFor wait: Double
    ) async throws -> [Outcome] {
        let books = try await books(of: request, environment: environment)
        // Before anything is changed: without a way nothing outside the library can be taken.
        for book in books { try await adoption.check(book.adoption) }
        return try await LibrarySession.withLibrary(
            at: configuration.library, command: "import", waitingFor: wait, knownLibraries: knownLibraries
        ) { session in
            var outcomes: [Outcome] = []
            for book in books {
                var subscription: SubscriptionImport?
                if let feed = book.feed {
                    subscription = try await SubscriptionImport(
                        [feed], configuration: configuration, knownLibraries: knownLibraries)
                }
                outcomes.append(
                    try await outcome(book, subscription: subscription?.entries.first?.outcome) {
                        try await adoption.execute($0, in: session)
                    })
            }
            return outcomes
        }
    }

    private func outcome(
        _ book: Book, subscription: SubscriptionImport.Outcome?,
        _ adopt: (AdoptionRequest) async throws -> AdoptionReport
    ) async throws -> Outcome {
        try Task.checkCancellation()
        let result: Result<AdoptionReport, Failure>
        do {
            result = .success(try await adopt(book.adoption))
        } catch let failure as Failure where failure.disposition != .stop {
            result = .failure(failure)
        }
        return Outcome(
            book: book.adoption.book, title: book.feed?.title ?? book.adoption.title, subscription: subscription,
            adoption: result)
    }

    // MARK: - Books

    private func books(of request: Request, environment: [String: String]) async throws -> [Book] {
        let records = try await ProgramRecords(of: request.program, at: request.path, environment: environment)
        for notice in records.notices { emit(.notice(notice)) }
        guard let feeds = records.feeds else {
            let stored = try await ShelfReader.read(configuration.library) { try await $0.subscriptions() } ?? []
            let all = try configuration.allSubscriptions(with: stored)
            let titles = Dictionary(all.map { ($0.book, $0.title) }) { first, _ in first }
            let books = request.books ?? titles.keys.sorted { "\($0)" < "\($1)" }
            guard !books.isEmpty else {
                throw Failure(
                    .usage, what: "nothing to take over",
                    why: "\(request.path) does not say of which feeds it is, and nothing is subscribed to",
                    remedy: "name them with --book")
            }
            return books.map { book in
                Book(
                    adoption: AdoptionRequest(
                        folder: request.files, book: book, title: titles[book] ?? nil, way: request.way,
                        records: records.records(of: book)))
            }
        }
        var books: [Book] = []
        for feed in feeds {
            guard let address = FeedSettings.webAddress(feed.address) else {
                emit(.notice("\(feed.title ?? "") (\(feed.address)) is left out: it is no address of the web"))
                continue
            }
            let book = configuration.book(at: address)
            guard request.books?.contains(book) ?? true else { continue }
            books.append(
                Book(
                    adoption: AdoptionRequest(
                        folder: try await Self.folder(feed.folder, below: request.files), book: book, way: request.way,
                        records: feed.records),
                    feed: request.subscribes && feed.isFollowed ? OPMLFeed(title: feed.title, address: address) : nil))
        }
        if let missing = request.books?.first(where: { book in !books.contains { $0.adoption.book == book } }) {
            throw Failure(
                .unknownBook, what: "\(missing) is not taken over",
                why: "\(request.path) knows no feed of that address", remedy: "name no book for all that it knows")
        }
        return books
    }

    /// Where the files are: where the program says, or below the folder that holds them now, as far as that has the same
    /// folders; nil where there is none.
    private static func folder(_ folder: String?, below files: String?) async throws -> String? {
        guard let folder else { return files }
        return try await runBlocking {
            guard let files else { return isFolder(at: folder) ? folder : nil }
            let parts = folder.split(separator: "/")
            return parts.indices.lazy.map { files + "/" + parts[$0...].joined(separator: "/") }.first(
                where: isFolder(at:))
                ?? files
        }
    }
}
