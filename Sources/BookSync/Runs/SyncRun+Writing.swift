import AudioFiles
import BookModel
import CatalogStore
import Foundation
import LibraryFiles
import Logging
import Settings

// What a run writes into and of the audio files of its books, when all are there.

extension SyncRun {
    /// For so many seconds after a file was fetched runs try to embed tags in it: one may be killed before it comes to that.
    private static let taggingTime: Double = 7 * 86400

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
