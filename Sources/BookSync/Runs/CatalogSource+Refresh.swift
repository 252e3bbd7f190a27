import BookModel
import CatalogFetcher
import CatalogStore

/// A book as its catalog lists it now.
struct RefreshedBook: Sendable {
    var book: Book
    /// Without their elements, which only the store keeps; nil where the catalog said that nothing changed, so that they
    /// are those of the store.
    var episodes: [Episode]?
    var proof: ListingProof
    /// What the catalog listed before and does not list now, as a sentence goes on with it; nil where nothing is, or
    /// nobody asked.
    var droppedNotice: Message?

    /// Why the listing may lack episodes; nil where it is whole.
    var incompleteness: Failure? {
        guard !proof.isComplete else { return nil }
        let warnings = proof.warnings.isEmpty ? ["the listing counts as incomplete"] : proof.warnings
        return Failure(
            .temporary, what: "\(book.name): episodes may be missing", why: warnings.joined(separator: ", "),
            remedy: "the next run asks again")
    }
}

extension CatalogSource {
    /// Episodes that the store takes over at a time.
    private static var batchSize: Int { 1000 }

    /// Asks the catalog for a book.
    ///
    /// - Parameters:
    ///   - title: overrides what the catalog says.
    ///   - known: what the store knows of the book. Its title outranks one that was only inferred from the episodes,
    ///     and its details stand in for those that could not be asked for this time.
    ///   - store: what is known; nil where nothing is.
    ///   - stores: whether the store takes over every page as it arrives.
    ///   - asksAnew: whether the catalog is to list the book whatever it listed before. What a former answer came with may
    ///     have come from another address, or have been meant for somebody else.
    ///   - tellsOfDropped: whether what the catalog no longer lists is to be told; it is told once, by the run that
    ///     stores that it is gone.
    func refresh(
        _ identity: BookIdentity, title: String?, known: Book?, store: CatalogStore?, stores: Bool,
        asksAnew: Bool = false, tellsOfDropped: Bool = false
    ) async throws -> RefreshedBook {
        var episodes: [Episode] = []
        // What only proposes its identity or its number is resolved when all of the listing is there.
        var proposed: [Episode] = []
        let take = { (page: ArraySlice<Episode>) async throws -> Void in
            if stores { _ = try await store?.merge(Array(page), startingAt: episodes.count, of: identity) }
            episodes += page.map { episode in
                var episode = episode
                episode.element = nil
                return episode
            }
        }
        let onPage = { (page: CatalogPage) async throws -> Void in
            if page.episodes.contains(where: \.isProposed) {
                proposed += page.episodes
            } else {
                try await take(page.episodes[...])
            }
        }
        let listing: CatalogListing
        if !asksAnew, let known, let validator = try await store?.listingValidator(of: identity) {
            guard let changed = try await list(identity, ifChangedSince: validator, onPage: onPage) else {
                var book = known
                if let title { book.title = title }
                let proof = ListingProof(
                    declared: known.declaredEpisodes, collected: known.declaredEpisodes ?? 0, isComplete: true,
                    validator: validator)
                if stores, book.title != known.title {
                    let seen = Set(try await store?.knownEpisodes(of: identity).map(\.key) ?? [])
                    _ = try await store?.finishListing(of: book, proof: proof, seen: seen)
                }
                return RefreshedBook(book: book, episodes: nil, proof: proof)
            }
            listing = changed
        } else {
            listing = try await list(identity, onPage: onPage)
        }
        if !proposed.isEmpty {
            var resolver = EpisodeResolver(known: try await store?.knownEpisodes(of: identity) ?? [])
            let resolved = resolver.resolve(proposed)
            for start in stride(from: 0, to: resolved.count, by: Self.batchSize) {
                try await take(resolved[start..<min(start + Self.batchSize, resolved.count)])
            }
        }
        var book = listing.book(identity)
        if let known {
            if listing.description.title == nil, !known.title.isEmpty { book.title = known.title }
            book.author = book.author ?? known.author
            book.narrator = book.narrator ?? known.narrator
            book.summary = book.summary ?? known.summary
            book.language = book.language ?? known.language
            book.cover = book.cover ?? known.cover
        }
        if let title { book.title = title }
        var proof = listing.proof
        if proof.isComplete, episodes.isEmpty, try await store?.knownEpisodes(of: identity).isEmpty == false {
            // A catalog that lost all its episodes rather lost its mind: nothing is gone for that.
            proof.isComplete = false
            proof.warnings.append("the episodes that it had are not taken for gone")
        }
        book.isComplete = proof.isComplete
        var refreshed = RefreshedBook(book: book, episodes: episodes, proof: proof)
        if stores, let store {
            let seen = Set(episodes.lazy.map(\.identity.key))
            if tellsOfDropped, proof.isComplete {
                refreshed.droppedNotice = RefreshedBook.droppedNotice(
                    try await store.dropped(from: identity, seen: seen))
            }
            _ = try await store.finishListing(of: book, proof: proof, seen: seen)
        }
        return refreshed
    }
}

extension Episode {
    /// Whether the store has a say in what the episode's key and number are.
    fileprivate var isProposed: Bool { rawKey != nil || numbering != .catalog }
}

extension RefreshedBook {
    /// The listing's episodes with what the store knows of each, and behind them those that only the store knows.
    func shelved(with stored: [EpisodeRecord]) -> [EpisodeRecord] {
        guard let episodes else { return stored.filter { !$0.isGone } + stored.filter(\.isGone) }
        // Places and not the episodes themselves: copying thousands of them costs more than all that is done to them.
        var others = Dictionary(stored.indices.map { (stored[$0].episode.identity.key, $0) }) { first, _ in first }
        let listed = episodes.map { episode in
            let index = others.removeValue(forKey: episode.identity.key)
            var shelved = index.map { stored[$0] } ?? EpisodeRecord(episode: episode)
            shelved.episode = episode
            shelved.isGone = false
            return shelved
        }
        let unlisted = others.values.sorted().map { index in
            var shelved = stored[index]
            shelved.isGone = shelved.isGone || proof.isComplete
            return shelved
        }
        // An address that was stored without its secrets fetches nothing: such an episode waits for a listing.
        return listed + unlisted.filter { $0.file != nil || $0.isGone || $0.episode.address?.isMasked == false }
    }

    fileprivate static func droppedNotice(_ dropped: [(section: Int, name: String)]) -> Message? {
        guard !dropped.isEmpty else { return nil }
        let named = dropped.prefix(3).map { "\($0.section) \($0.name)" }.joined(separator: ", ")
        let more: Message = dropped.count > 3 ? " and \(dropped.count - 3) more" : ""
        let those: Message = dropped.count == 1 ? "an episode" : "\(dropped.count) episodes"
        return "the catalog no longer lists \(those) (\(named)\(more)); what is on disk is kept"
    }
}
