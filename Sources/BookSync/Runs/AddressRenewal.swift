import BookModel
import CatalogFetcher

/// Asks a book's catalog again when an address has expired in the middle of a run. All transfers of the book share one
/// new listing: when one address has expired, its neighbours' have as a rule as well.
actor AddressRenewal {
    private let book: BookIdentity
    private let source: any CatalogSource
    /// The addresses of each episode: the catalog's, then that of a mirror.
    private var addresses: [String: [ResourceAddress]] = [:]
    private var listedAt: ContinuousClock.Instant?
    private var asked: Set<String> = []
    private var listing: Task<[String: [ResourceAddress]], any Error>?
    /// True if a file that is not at its address may be on another server.
    nonisolated let hasMirror: Bool

    init(book: BookIdentity, source: any CatalogSource) {
        self.book = book
        self.source = source
        hasMirror = source is any MirroredCatalog
    }

    /// Seconds for which a listing answers for all episodes: a server that refuses every one of them must not have the
    /// catalog read once for each.
    private static let freshness = 60.0

    /// - Parameter stale: the address that is no longer good.
    /// - Returns: the catalog's present address, or else a mirror's; nil when there is no other.
    func address(of episode: EpisodeIdentity, insteadOf stale: ResourceAddress) async throws -> ResourceAddress? {
        let isFirst = asked.insert(episode.key).inserted
        if let known = other(than: stale, of: episode) { return known }
        if isFirst, let listedAt, ContinuousClock.now - listedAt < .seconds(Self.freshness) { return nil }
        let running = listing ?? Task { try await Self.addresses(of: book, in: source) }
        listing = running
        defer { if listing == running { listing = nil } }
        addresses = try await withTaskCancellationHandler {
            try await running.value
        } onCancel: {
            running.cancel()
        }
        listedAt = .now
        return other(than: stale, of: episode)
    }

    private func other(than stale: ResourceAddress, of episode: EpisodeIdentity) -> ResourceAddress? {
        addresses[episode.key]?.first { $0 != stale }
    }

    private static func addresses(
        of book: BookIdentity, in source: any CatalogSource
    ) async throws -> [String: [ResourceAddress]] {
        var addresses: [String: [ResourceAddress]] = [:]
        _ = try await source.list(book) { page in
            for episode in page.episodes { addresses[episode.identity.key] = [episode.address].compactMap(\.self) }
        }
        let mirrored = try await (source as? any MirroredCatalog)?.mirrorAddresses(of: book) ?? [:]
        return addresses.merging(mirrored.mapValues { [$0] }, uniquingKeysWith: +)
    }
}
