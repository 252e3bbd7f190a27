import BookModel
import CatalogFetcher

/// Asks a book's catalog again when an address has expired in the middle of a run. All transfers of the book share one
/// new listing: when one address has expired, its neighbours' have as a rule as well.
actor AddressRenewal {
    private let book: BookIdentity
    private let source: any CatalogSource
    private var addresses: [String: ResourceAddress] = [:]
    private var listedAt: ContinuousClock.Instant?
    private var asked: Set<String> = []
    private var listing: Task<[String: ResourceAddress], any Error>?

    init(book: BookIdentity, source: any CatalogSource) {
        self.book = book
        self.source = source
    }

    /// Seconds for which a listing answers for all episodes: a server that refuses every one of them must not have the
    /// catalog read once for each.
    private static let freshness = 60.0

    /// - Parameter stale: the address that is no longer good.
    /// - Returns: the catalog's present address; nil when it gives none.
    func address(of episode: EpisodeIdentity, insteadOf stale: ResourceAddress) async throws -> ResourceAddress? {
        let isFirst = asked.insert(episode.key).inserted
        if let known = addresses[episode.key], known != stale { return known }
        if isFirst, let listedAt, ContinuousClock.now - listedAt < .seconds(Self.freshness) {
            return addresses[episode.key]
        }
        let running = listing ?? Task { try await Self.addresses(of: book, in: source) }
        listing = running
        defer { if listing == running { listing = nil } }
        addresses = try await withTaskCancellationHandler {
            try await running.value
        } onCancel: {
            running.cancel()
        }
        listedAt = .now
        return addresses[episode.key]
    }

    private static func addresses(
        of book: BookIdentity, in source: any CatalogSource
    ) async throws -> [String: ResourceAddress] {
        var addresses: [String: ResourceAddress] = [:]
        _ = try await source.list(book) { page in
            for episode in page.episodes { addresses[episode.identity.key] = episode.address }
        }
        return addresses
    }
}
