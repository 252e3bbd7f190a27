import BookModel
import BookSync
import CatalogStore

/// Tells from one look at the store to the next what happened. Pure: looks and instants are given.
struct ShelfDiff: Sendable {
    /// What happened to an episode.
    enum Turn: Sendable, Hashable {
        case started
        case progressed
        /// It stands somewhere else than before.
        case changed
    }

    /// A transfer that does not wait.
    struct Moving: Sendable {
        var state: TransferState
        var total: Int64?
        var attempts: Int
        var bytes: Int64 = 0
        fileprivate var meter = SpeedMeter()

        /// How much of it is here, from 0 to 1; 0 as long as nobody knows its size.
        /// - Parameter size: by the catalog, which counts until the server has said it.
        func share(ofSize size: Int64?) -> Double {
            guard let all = total ?? size, all > 0 else { return 0 }
            return min(1, Double(bytes) / Double(all))
        }

        var isUnderWay: Bool { state == .downloading || state == .verifying }

        func bytesPerSecond(at now: ContinuousClock.Instant) -> Double? {
            state == .downloading ? meter.bytesPerSecond(at: now) : nil
        }
    }

    /// What is said of a run.
    struct RunState: Sendable, Hashable {
        var run: ActivitySnapshot.Run
        var isUnderWay: Bool

        /// Whether it began or ended since; how far it is does not count.
        func isSame(as other: RunState) -> Bool {
            isUnderWay == other.isUnderWay && run.number == other.run.number && run.isEnded == other.run.isEnded
        }
    }

    /// By the rows of episodes.
    private(set) var moving: [Int64: Moving] = [:]
    private(set) var waiting = 0
    private(set) var run: RunState?
    /// Files that were told of, or were there before, and when they were recorded.
    private var files: [Int64: Int64] = [:]
    private var lastFile: Int64?
    private var isBegun: Bool

    /// Milliseconds by which records of files may come out of their order: several transfers end at once, and a clock may
    /// be set back a little.
    static let slack: Int64 = 10_000

    /// - Parameter isNew: whether there was no store at the look before: all that is there happened since.
    init(isNew: Bool = false) {
        isBegun = isNew
    }

    /// From when on recorded files are to be looked for; nil before the first look.
    var filesSince: Int64? { isBegun ? (lastFile ?? 0).subtractingSaturated(Self.slack) : nil }

    /// Whether something moves without the store being written: bytes come, or the run behind it is killed.
    var needsLook: Bool { moving.values.contains(where: \.isUnderWay) || run?.isUnderWay == true }

    /// Bytes a second over all transfers.
    func bytesPerSecond(at now: ContinuousClock.Instant) -> Double {
        moving.values.reduce(0) { $0 + ($1.bytesPerSecond(at: now) ?? 0) }
    }

    /// - Parameters:
    ///   - bytes: on disk, of what is under way.
    ///   - isRunUnderWay: else what a killed run left as under way only waits.
    /// - Returns: what happened since the last look, by rows; nothing for the first one.
    mutating func take(
        _ look: ActivitySnapshot, bytes: [Int64: Int64], isRunUnderWay: Bool, at now: ContinuousClock.Instant
    ) -> [(row: Int64, turn: Turn)] {
        var turns: [Int64: Turn] = [:]
        var present: [Int64: Moving] = [:]
        for (row, transfer) in look.transfers {
            let isStopped = [.paused, .failed, .cancelled].contains(transfer.state)
            guard isStopped || isRunUnderWay else { continue }
            let before = moving[row]
            var after = before ?? Moving(state: transfer.state, total: transfer.total, attempts: transfer.attempts)
            (after.state, after.total, after.attempts) = (transfer.state, transfer.total, transfer.attempts)
            if after.isUnderWay {
                after.bytes = bytes[row] ?? after.bytes
                after.meter.record(after.bytes, at: now)
            }
            present[row] = after
            turns[row] = Self.turn(from: before, to: after)
        }
        for row in moving.keys where present[row] == nil { turns[row] = .changed }
        for (row, time) in look.files where files[row] != time && present[row] == nil { turns[row] = .changed }
        moving = present
        waiting = look.waiting
        run = look.run.map { RunState(run: $0, isUnderWay: !$0.isEnded && isRunUnderWay) }
        let known = filesSince
        lastFile = look.lastFile ?? lastFile
        files = look.files.filter { $0.value >= (filesSince ?? 0) }
        defer { isBegun = true }
        guard isBegun, known != nil else { return [] }
        return turns.sorted { $0.key < $1.key }.map { (row: $0.key, turn: $0.value) }
    }

    private static func turn(from before: Moving?, to after: Moving) -> Turn? {
        guard let before, before.state == after.state else {
            if after.state == .downloading { return .started }
            // What is being verified was told of as coming.
            return after.state == .verifying ? .progressed : .changed
        }
        if after.isUnderWay { return before.bytes != after.bytes || before.total != after.total ? .progressed : nil }
        return after.state == .failed && before.attempts != after.attempts ? .changed : nil
    }
}
