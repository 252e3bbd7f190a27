import BookModel
import BookSync
import Settings

extension Configuration {
    /// What a run over the books named is to do.
    ///
    /// - Parameter filter: of all of them; what a reference says itself counts more.
    func items(naming references: [BookReference], filter: EpisodeFilter) throws -> [RunRequest.Item] {
        try references.map { reference in
            let filter = filter.overridden(by: reference.filter)
            let book = try book(reference)
            guard !book.isCollection else {
                throw Failure(
                    .usage, what: "\(book) cannot be fetched", why: "it is a list of books",
                    remedy: "subscribe to it, and booksync mirror fetches its books")
            }
            return RunRequest.Item(book: book, filter: filter, triesAtOnce: filter.namesEpisodes)
        }.titled(by: try allSubscriptions(with: []))
    }
}
