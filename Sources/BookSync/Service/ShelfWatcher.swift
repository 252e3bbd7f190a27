import BookModel
import CatalogStore
import LibraryFiles

/// Polls a library: the transfers under way, and a state that differs when pages would show something else.
struct ShelfWatcher: Sendable {
    /// Equal as long as pages show the same.
    struct State: Sendable, Hashable {
        var store: UInt64?
        /// By episode row; those under way are all equal.
        var transfers: [Int64: ActivitySnapshot.Transfer] = [:]
        var waiting = 0
        var run: ActivitySnapshot.Run?
        var isRunUnderWay = false
        var counts: [Int64] = []
    }

    private struct Moving: Sendable {
        var episode: EpisodeRecord
        var state: TransferState
        var total: Int64?
        var bytes: Int64 = 0
        var meter = SpeedMeter()

        /// The downloaded share, from 0 to 1; 0 while the size is unknown.
        var share: Double {
            guard let all = total ?? episode.episode.size, all > 0 else { return 0 }
            return min(1, Double(bytes) / Double(all))
        }

        func bytesPerSecond(at now: ContinuousClock.Instant) -> Double? {
            state == .downloading ? meter.bytesPerSecond(at: now) : nil
        }
    }

    private let library: String
    private let kept: KeptStore
    private(set) var state = State()
    /// Of the last poll: where the store was, and its version.
    private var seen: (place: KeptStore.Place, version: StoreVersion)?
    private var wasMissing = false
    private var moving: [Int64: Moving] = [:]
    /// True after the first poll of this store.
    private var isBegun = false
    private var lastFile: Int64?

    init(library: String) {
        self.library = library
        kept = KeptStore(library: library)
    }

    /// - Returns: the documents of the episodes that ended, stopped or were recorded since the last poll.
    mutating func poll(now: ContinuousClock.Instant) async throws -> [JSONDocument] {
        if let ended = try await kept.read({ try await poll($0, at: $1, now: now) }) { return ended }
        wasMissing = true
        (moving, state, seen) = ([:], State(), nil)
        return []
    }

    private mutating func poll(
        _ store: CatalogStore, at place: KeptStore.Place, now: ContinuousClock.Instant
    ) async throws -> [JSONDocument] {
        if place.inode != state.store {
            moving = [:]
            // Everything in a store that was created since the last poll is new.
            (isBegun, lastFile, state) = (wasMissing, nil, State(store: place.inode))
        }
        let version = try await store.version()
        let isWritten = seen.map { $0 != (place, version) } ?? true
        wasMissing = false
        guard isWritten || state.isRunUnderWay else { return [] }
        let snapshot = try await store.activitySnapshot(recordedAfter: isBegun ? lastFile ?? 0 : nil)
        // After a kill, transfers marked as under way only wait.
        let isClaimed = snapshot.run?.isEnded == false || snapshot.transfers.values.contains(where: \.isUnderWay)
        let isRunUnderWay = isClaimed ? try await LibraryLock.isHeld(in: library) : false
        let underWay = isRunUnderWay ? snapshot.transfers.filter(\.value.isUnderWay) : [:]
        let transfers = snapshot.transfers.mapValues { $0.isUnderWay ? Self.underWay : $0 }
        let stopped = isBegun ? transfers.keys.filter { transfers[$0] != state.transfers[$0] } : []
        let ended = Set(moving.keys).union(snapshot.recorded).union(stopped).subtracting(underWay.keys).sorted()
            .prefix(Self.maxEnded)
        for row in moving.keys where underWay[row] == nil { moving[row] = nil }
        let episodes = try await store.episodes(inRows: underWay.keys.filter { moving[$0] == nil } + ended)
        let partials = underWay.isEmpty ? nil : try await PartialSizes(library: library)
        for (row, transfer) in underWay {
            guard var one = moving[row] ?? episodes[row].map({ Moving(episode: $0, state: transfer.state) }) else {
                continue
            }
            (one.state, one.total) = (transfer.state, transfer.total)
            // Once the partial file is published, the last known size stays.
            one.bytes = partials?.bytes(of: one.episode.episode.identity) ?? one.bytes
            one.meter.record(one.bytes, at: now)
            moving[row] = one
        }
        state = State(
            store: place.inode, transfers: transfers, waiting: snapshot.waiting, run: snapshot.run,
            isRunUnderWay: isRunUnderWay, counts: snapshot.counts)
        // Not before: what failed is tried again.
        (isBegun, lastFile, seen) = (true, snapshot.lastFile, (place, version))
        return ended.compactMap { episodes[$0] }.map {
            let shelved = $0.effective(isRunUnderWay: isRunUnderWay)
            let bytes = shelved.file?.size ?? shelved.transfer?.committedLength ?? 0
            return Self.document(
                shelved, shelved.state.rawValue,
                ByteProgress(bytesDone: bytes, total: shelved.file?.size ?? shelved.transfer?.total))
        }
    }

    /// More would be a list.
    private static let maxEnded = 100
    private static let underWay = ActivitySnapshot.Transfer(state: .downloading)

    /// The transfers under way.
    func movingDocuments(at now: ContinuousClock.Instant) -> [JSONDocument] {
        moving.sorted { $0.key < $1.key }.map { _, one in
            let progress = ByteProgress(
                bytesDone: one.bytes, total: one.total ?? one.episode.episode.size,
                bytesPerSecond: one.bytesPerSecond(at: now))
            return Self.document(one.episode, one.state.rawValue, progress)
        }
    }

    private static func document(_ shelved: EpisodeRecord, _ state: String, _ progress: ByteProgress) -> JSONDocument {
        let episode = shelved.episode
        return JSONDocument.naming(episode.identity, section: episode.section, name: episode.name).adding([
            "state": .string(state),
            "bytes_done": .integer(progress.bytesDone),
            "size": .init(progress.total ?? episode.size),
            "bytes_per_second": .init(progress.bytesPerSecond),
            "seconds_left": .init(progress.secondsLeft),
            "error": .init(shelved.state == .failed ? shelved.transfer?.error?.description : nil),
        ])
    }

    /// The progress of the run under way; nil without one.
    func runDocument(at now: ContinuousClock.Instant) -> JSONDocument? {
        guard let run = state.run, !run.isEnded, state.isRunUnderWay else { return nil }
        let episodes = run.done + state.waiting + moving.count
        let begun = moving.values.reduce(0) { $0 + $1.share }
        let share = episodes == 0 ? 1 : (Double(run.done) + begun) / Double(episodes)
        return [
            "id": .integer(run.number), "command": .string(run.command), "episodes_done": .init(run.done),
            "episodes": .init(episodes), "share_done": .init(share),
            "bytes_done": .integer(run.bytes.addingSaturated(moving.values.saturatedSum(of: \.bytes))),
            "bytes_per_second": .init(moving.values.reduce(0) { $0 + ($1.bytesPerSecond(at: now) ?? 0) }),
        ]
    }
}
