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
    ///   - store: what is known; nil where nothing is.
    ///   - stores: whether the store takes over every page as it arrives.
    func refresh(
        _ identity: BookIdentity, title: String?, known: Book?, store: CatalogStore?, stores: Bool
    ) async throws -> RefreshedBook {
        var episodes: [Episode] = []
        let onPage = { (page: CatalogPage) async throws -> Void in
            if stores { _ = try await store?.merge(page.episodes, startingAt: episodes.count, of: identity) }
            episodes += page.episodes.map { episode in
                var episode = episode
                episode.element = nil
                return episode
            }
        }
        let listing: CatalogListing
        if let known, let last = try await store?.lastListing(of: identity) {
            guard let changed = try await list(identity, ifChangedSince: last.validator, onPage: onPage) else {
                var book = known
                if let title { book.title = title }
                return RefreshedBook(book: book, episodes: last.episodes, proof: last.proof(of: known))
            }
            listing = changed
        } else {
            listing = try await list(identity, onPage: onPage)
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
        if stores {
            _ = try await store?.finishListing(
                of: book, proof: listing.proof, seen: Set(episodes.lazy.map(\.identity.key)))
        }
        return RefreshedBook(book: book, episodes: episodes, proof: listing.proof)
    }
}

/// The last complete listing of a book, as the store has it.
private struct LastListing {
    var validator: ContentValidator
    var episodes: [Episode]

    func proof(of book: Book) -> ListingProof {
        ListingProof(
            declared: book.declaredEpisodes, collected: episodes.count, isComplete: true, validator: validator)
    }
}

extension CatalogStore {
    /// - Returns: nil when there is none that the catalog could be asked about, or the addresses of its episodes were
    ///   stored without their secrets, so that nothing could be fetched from it.
    fileprivate func lastListing(of book: BookIdentity) async throws -> LastListing? {
        guard let validator = try await listingValidator(of: book) else { return nil }
        let listed = try await episodes(of: book).filter { !$0.isGone }.map(\.episode)
        guard !listed.contains(where: { $0.address?.isMasked == true }) else { return nil }
        return LastListing(validator: validator, episodes: listed)
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
