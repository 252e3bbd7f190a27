import BookModel
import BookSync
import Settings

extension Configuration {
    /// What a run over the books named is to do.
    ///
    /// - Parameter filter: of all of them; what a reference says itself counts more.
    func items(naming references: [BookReference], filter: EpisodeFilter) throws -> [RunRequest.Item] {
        try references.filter { failure(naming: $0) == nil }.map { reference in
            let filter = filter.overridden(by: reference.filter)
            return RunRequest.Item(
                book: try book(reference), filter: filter, triesAtOnce: filter.namesEpisodes, mustExist: true)
        }.titled(by: try allSubscriptions(with: []))
    }

    /// What becomes in a run of those of the books named that are addresses at which no catalog was found.
    func unread(_ references: [BookReference]) -> [RunRequest.ListAnswer] {
        var seen: Set<BookIdentity> = []
        return references.compactMap { reference in
            guard let failure = self.failure(naming: reference), let address = reference.address else { return nil }
            let book = self.book(at: address)
            return seen.insert(book).inserted ? RunRequest.ListAnswer(book, failure: failure) : nil
        }
    }
}
