import BookModel
import CatalogFetcher
import CatalogStore

/// A book as its catalog lists it now.
struct RefreshedBook: Sendable {
    var book: Book
    /// Without their elements, which only the store keeps.
    var episodes: [Episode]
    var proof: ListingProof
}

extension CatalogSource {
    /// Asks the catalog for a book.
    ///
    /// - Parameters:
    ///   - title: overrides what the catalog says.
    ///   - known: what the store knows of the book. Its title outranks one that was only inferred from the episodes,
    ///     and its details stand in for those that could not be asked for this time.
    ///   - store: takes over every page as it arrives; nil stores nothing.
    func refresh(
        _ identity: BookIdentity, title: String?, known: Book?, into store: CatalogStore?
    ) async throws -> RefreshedBook {
        var episodes: [Episode] = []
        let listing = try await list(identity) { page in
            _ = try await store?.merge(page.episodes, startingAt: episodes.count, of: identity)
            episodes += page.episodes.map { episode in
                var episode = episode
                episode.element = nil
                return episode
            }
        }
        var book = listing.book(identity)
        if let known {
            if listing.description.title == nil, !known.title.isEmpty { book.title = known.title }
            book.author = book.author ?? known.author
            book.announcer = book.announcer ?? known.announcer
            book.summary = book.summary ?? known.summary
            book.cover = book.cover ?? known.cover
        }
        if let title { book.title = title }
        _ = try await store?.finishListing(
            of: book, proof: listing.proof, seen: Set(episodes.lazy.map(\.identity.key)))
        return RefreshedBook(book: book, episodes: episodes, proof: listing.proof)
    }
}

extension RefreshedBook {
    /// The listing's episodes with what the store knows of each, and behind them those that only the store knows.
    func shelved(with stored: [ShelvedEpisode]) -> [ShelvedEpisode] {
        // Places and not the episodes themselves: copying thousands of them costs more than all that is done to them.
        var others = Dictionary(stored.indices.map { (stored[$0].episode.identity.key, $0) }) { first, _ in first }
        let listed = episodes.map { episode in
            let place = others.removeValue(forKey: episode.identity.key)
            var shelved = place.map { stored[$0] } ?? ShelvedEpisode(episode: episode)
            shelved.episode = episode
            shelved.isGone = false
            return shelved
        }
        let unlisted = others.values.sorted().map { place in
            var shelved = stored[place]
            shelved.isGone = shelved.isGone || proof.isComplete
            return shelved
        }
        // An address that was stored without its secrets fetches nothing: such an episode waits for a listing.
        return listed + unlisted.filter { $0.file != nil || $0.isGone || $0.episode.address?.isMasked == false }
    }
}
