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
            return RunRequest.Item(book: try book(reference), filter: filter, triesAtOnce: filter.namesEpisodes)
        }.titled(by: try allSubscriptions(with: []))
    }
}
