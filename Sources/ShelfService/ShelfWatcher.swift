import BookModel
import CatalogStore
import LibraryFiles
import ShelfQueries

/// Looks at the store and at what is on disk, and tells what is different.
struct ShelfWatcher: Sendable {
    private var poller = StorePoller()
    private var diff = ShelfDiff()
    private var writer = LiveEventWriter()
    /// Whether the last look found another store, so that what was told before holds no more.
    private(set) var sawOtherStore = false

    mutating func close() async { await poller.close() }

    /// What is under way now, for a client that knows nothing of it.
    func whole(at now: ContinuousClock.Instant) -> [LiveEvent] { writer.whole(of: diff, at: now) }

    /// What happened since the last look.
    mutating func look(at library: String, now: ContinuousClock.Instant) async throws -> [LiveEvent] {
        let found = try await poller.poll(library)
        sawOtherStore = found.isReplaced
        if found.isOther { diff = ShelfDiff(isNew: found.isNew) }
        guard let store = found.store, found.isWritten || diff.needsLook || writer.hasMore else { return [] }
        var look = try await store.activitySnapshot(filesSince: diff.filesSince)
        // What was there at the first look is no news at the second.
        if diff.filesSince == nil, let last = look.lastFile {
            look = try await store.activitySnapshot(filesSince: last.subtractingSaturated(ShelfDiff.slack))
        }
        let isRunUnderWay =
            look.run?.isEnded == false
                || look.transfers.values.contains { [.downloading, .verifying].contains($0.state) }
            ? try await LibraryLock.isHeld(in: library) : false
        let coming = isRunUnderWay ? look.transfers.filter { $0.value.state == .downloading }.map(\.key) : []
        let bytes = try await bytes(of: coming, store, in: library)
        let turns = diff.take(look, bytes: bytes, isRunUnderWay: isRunUnderWay, at: now)
        return try await writer.events(of: turns, in: diff, store, isRunUnderWay: isRunUnderWay, at: now)
    }

    /// How much of what is coming is on disk. Of a transfer without a partial file, which was just put in its place, what was
    /// known of it stays.
    private mutating func bytes(
        of rows: [Int64], _ store: CatalogStore, in library: String
    ) async throws -> [Int64: Int64] {
        guard !rows.isEmpty else { return [:] }
        let episodes = try await writer.known(rows, store)
        let partials = try await PartialSizes(library: library)
        return rows.reduce(into: [:]) { bytes, row in
            bytes[row] = episodes[row].flatMap { partials.bytes(of: $0.episode.identity) }
        }
    }
}
