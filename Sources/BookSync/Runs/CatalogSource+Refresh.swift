import BookModel
import CatalogFetcher
import CatalogStore
import Foundation

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
    /// The catalog's new permanent address, confirmed by a listing that has episodes of the book; nil if it did not move.
    var movedTo: ResourceAddress?
    /// That the book has other names from now on, so that its files are renamed; nil where it keeps them.
    var renamedNotice: Message?
    /// How many episodes keep another number than the listing gives them.
    var misnumbered = 0

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
    ///   - renumbers: whether episodes get the numbers that the listing gives them, if it is complete.
    ///   - asksAnew: whether the catalog is to list the book whatever it listed before. What a former answer came with may
    ///     have come from another address, or have been meant for somebody else; or what is missing needs an address that is
    ///     not stored.
    ///   - successor: asks for the book where the catalog says that it has moved to; nil where its word is not followed.
    ///   - tellsOfDropped: whether what the catalog no longer lists is to be told; it is told once, by the run that
    ///     stores that it is gone.
    func refresh(
        _ identity: BookIdentity, title: String?, known: Book?, store: CatalogStore?, stores: Bool,
        renumbers: Bool = false, asksAnew: Bool = false, tellsOfDropped: Bool = false,
        successor: ((ResourceAddress) throws -> (any CatalogSource)?)? = nil
    ) async throws -> RefreshedBook {
        // As they were before the listing.
        var knownEpisodes: [Episode]?
        var episodes: [Episode] = []
        // What only proposes its identity or its number is resolved when all of the listing is there.
        var proposed: [Episode] = []
        let take = { (page: ArraySlice<Episode>) async throws -> Void in
            if stores { _ = try await store?.merge(Array(page), startingAt: episodes.count, of: identity) }
            episodes += page.map { episode in
                var episode = episode
                episode.chapters = nil
                return episode
            }
        }
        let onPage = { (page: CatalogPage) async throws -> Void in
            if knownEpisodes == nil { knownEpisodes = try await store?.knownEpisodes(of: identity) }
            if page.episodes.contains(where: \.isProposed) {
                proposed += page.episodes
            } else {
                try await take(page.episodes[...])
            }
        }
        var listing: CatalogListing
        // While a listing has other names, the next ones have to say whether these stay.
        if !asksAnew, let known, known.candidateNames == nil,
            let validator = try await store?.listingValidator(of: identity), validator.isGood(at: Date())
        {
            guard let changed = try await list(identity, ifChangedSince: validator, onPage: onPage) else {
                var book = known
                if let title { book.title = title }
                let proof = ListingProof(
                    declared: known.declaredEpisodes, collected: known.declaredEpisodes ?? 0, isComplete: true,
                    validator: validator)
                if stores, book.title != known.title {
                    let seen = Set(try await store?.knownEpisodes(of: identity).map(\.identity.key) ?? [])
                    _ = try await store?.finishListing(of: book, proof: proof, seen: seen)
                }
                return RefreshedBook(book: book, episodes: nil, proof: proof)
            }
            listing = changed
        } else {
            listing = try await list(identity, onPage: onPage)
        }
        let formerEpisodes =
            if let knownEpisodes { knownEpisodes } else { try await store?.knownEpisodes(of: identity) ?? [] }
        // An expired domain leads to somebody else's feed.
        var stranger = listing.movedTo.flatMap { FeedSettings.isElsewhere($0, than: identity.id) ? $0 : nil }
        if let next = listing.successor, let source = try successor?(next) {
            var others: [Episode] = []
            let other = try? await source.list(identity) { others += $0.episodes }
            try Task.checkCancellation()
            let keys = Set(formerEpisodes.map(\.identity.key) + proposed.map(\.identity.key))
            // An address that cannot be read, lists other episodes, or leads on is a mistake.
            if let other, other.proof.isComplete, other.successor ?? next == next,
                keys.isEmpty || !keys.isDisjoint(with: others.map(\.identity.key))
            {
                (listing, proposed) = (other, others)
                listing.movedTo = other.movedTo ?? next
                stranger = nil
            }
        }
        var misnumbered = 0
        if !proposed.isEmpty {
            // The title that the user gave says nothing of the feed's.
            let said = listing.description
            let names = title == nil ? [said.title, known?.title] : [said.author, known?.author]
            let isRenamed =
                !names.contains(nil) && names[0] != names[1] && known?.title != Book.untitled(identity)
            var resolver = EpisodeResolver(known: formerEpisodes, isRenamed: isRenamed)
            let resolved = resolver.resolve(proposed, renumbers: renumbers && listing.proof.isComplete)
            misnumbered = resolver.misnumbered
            let known = stranger == nil ? [] : Set(formerEpisodes.map(\.identity.key))
            if let stranger, !known.isEmpty, known.isDisjoint(with: resolved.map(\.identity.key)) {
                throw Failure(
                    .unreadableCatalog, what: "the catalog of \(identity) is not taken over",
                    why: "its address leads to \(stranger) from now on, which lists none of its episodes",
                    remedy: "look for its new address, or subscribe to that one as a book of its own")
            }
            if stores, renumbers, listing.proof.isComplete, misnumbered > 0 {
                try await store?.setNumbers(of: [identity], .record)
            }
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
        let seen = Set(episodes.lazy.map(\.identity.key))
        let isKnown = formerEpisodes.contains { seen.contains($0.identity.key) }
        if proof.isComplete, episodes.isEmpty, !formerEpisodes.isEmpty {
            // An empty listing is rather a fault of the catalog: no episode counts as gone.
            proof.isComplete = false
            proof.warnings.append("the known episodes are kept")
        }
        book.isComplete = proof.isComplete
        var refreshed = RefreshedBook(book: book, episodes: episodes, proof: proof)
        // What a page that stands in for the feed says of its address is not taken over either.
        if proof.isComplete, formerEpisodes.isEmpty || isKnown { refreshed.movedTo = listing.movedTo }
        // A placeholder for a night names nothing. What never had a title takes the first one, and the user's counts at once.
        if var called = known, !formerEpisodes.isEmpty, called.title != Book.untitled(identity) {
            called.title = title ?? called.title
            book.settleNames(after: called, counts: proof.isComplete && isKnown)
            refreshed.book = book
            if book.names != called.names {
                refreshed.renamedNotice =
                    "\(identity): '\(called.names)' is called '\(book.names)' from now on; its files are renamed"
            }
        }
        refreshed.misnumbered = misnumbered
        if stores, let store {
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
