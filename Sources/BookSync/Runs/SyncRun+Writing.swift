import AudioFiles
import BookModel
import CatalogStore
import Foundation
import LibraryFiles
import Logging
import Settings
import Transport

// What a run writes into and of the audio files of its books, when all are there.

extension SyncRun {
    /// For so many seconds after a file was fetched runs try to embed tags in it: one may be killed before it comes to that.
    private static let taggingTime: Double = 7 * 86400

    /// Writes what `downloads.export` lists, as far as it changed. That the user's own file stands in the place is told and is no failure of the run; that a
    /// file cannot be written is. A cover that cannot be had, and a metadata.json that Audiobookshelf has made its own, are
    /// the same every night: they are for the log, and `booksync export` tells of them.
    /// - Parameter covers: the addresses that catalogs gave in this run.
    func export(
        _ books: Set<BookIdentity>, covers: [BookIdentity: ResourceAddress], in session: LibrarySession,
        over transport: HTTPTransport, onFailure: (FailureReport) -> Void
    ) async throws {
        let kinds = configuration.downloads.export
        guard !kinds.isEmpty else { return }
        var export = BookExport(configuration: configuration, library: session.folder.path, store: session.store)
        export.covers = covers
        // Servers that did not answer for a cover are not waited for book by book.
        var silent: Set<WebOrigin> = []
        for book in books.sorted() where !Task.isCancelled {
            do {
                let server = export.covers[book].flatMap(WebOrigin.init)
                let isSilent = server.map(silent.contains) ?? false
                for outcome in try await export.execute(
                    kinds.filter { !isSilent || $0 != .cover }, of: book, over: transport)
                {
                    if outcome.isUnanswered, let server { silent.insert(server) }
                    switch outcome.result {
                    case .left(let failure) where [.cover, .metadata].contains(outcome.kind),
                        .failed(let failure) where outcome.kind == .cover:
                        logger.info("not exported", metadata: ["why": "\(failure)"])
                    case .left(let failure): emit(.notice("\(failure)"))
                    case .failed(let failure): onFailure(FailureReport(book: book, failure: failure))
                    case .written, .unchanged, .nothing: break
                    }
                }
            } catch is CancellationError {
                return
            } catch let failure as Failure {
                onFailure(FailureReport(book: book, failure: failure))
                if failure.disposition == .stop { return }
            }
        }
    }

    /// Embeds tags as `downloads.tags` says. What cannot be is for the log: it would be the same every night.
    func embedTags(in books: Set<BookIdentity>, in session: LibrarySession) async {
        guard configuration.downloads.tags == .embed else { return }
        guard let writer else { return emit(.notice("no tags are embedded (downloads.tags): ffmpeg is not installed")) }
        let tagging = BookTagging(configuration: configuration, session: session, media: writer)
        let outcome = await Result.of {
            let time = Date(timeIntervalSinceNow: -Self.taggingTime)
            let open = try await session.store.booksWithoutTags(fetchedSince: time).intersection(books)
            for book in open.sorted() {
                try await tagging.execute(.embed, of: book, since: time) { [logger] outcome in
                    guard case .failure(let failure) = outcome.result else { return }
                    logger.info("no tags", metadata: ["why": "\(failure)"])
                }
            }
        }
        if case .failure(let error) = outcome, !(error is CancellationError) {
            emit(.notice("tags are not embedded in all files: \(Failure.of(error).why)"))
        }
    }

    /// Joins the books as `downloads.join` says.
    func join(_ books: Set<BookIdentity>, in session: LibrarySession) async {
        guard let format = JoinFormat(rawValue: configuration.downloads.join.rawValue) else { return }
        guard let writer else { return emit(.notice("books are not joined (downloads.join): ffmpeg is not installed")) }
        await BookJoin(
            library: session.folder.path, request: JoinRequest(format: format), probe: writer,
            minFreeSpace: configuration.downloads.minFreeSpace
        ).execute(after: books.sorted(), store: session.store) { emit(.notice($0)) }
    }
}
