import BookModel
import Synchronization
import Transport

/// The pieces of one large transfer while a try at it is under way: who fetches which, and what came of it.
///
/// The transfer itself opens the board once a server has shown that it gives parts of the right file; from then on
/// whoever has a slot to spare may ``help()``. All bytes that helpers brought are in the files of pieces when
/// ``close()`` returns.
final class SegmentedDownload: Sendable {
    private struct State {
        var table = SegmentTable(total: 0, length: 1)
        /// Set when the transfer goes on in pieces.
        var work: (source: PieceSource, files: PieceFiles)?
        var letsHelpersIn = false
        var isClosed = false
        var busy: [Int: Task<PieceResult.Ending, Never>] = [:]
        /// Why the transfer cannot go on in pieces.
        var obstacle: Obstacle?
        var failures = 0
        var restsUntil = ContinuousClock.now
    }

    enum Obstacle {
        case contradiction(Message)
        case failure(Failure)
    }

    /// Pieces that the transfer asks for in one request while nobody helps: each request costs a round trip.
    private static let longReach = 4

    /// Bytes from which on a file is large enough to be divided, and of its pieces.
    let minTotal: Int64
    private let pieceLength: Int64
    private let partialPath: String
    private let transport: HTTPTransport
    private let limiter: TransferRates.Limiter
    private let meter: TransferMeter
    private let threads: TransferThreads
    private let retry: RetryPolicy
    private let state = Mutex(State())

    init(
        partialPath: String, transport: HTTPTransport, limiter: TransferRates.Limiter, meter: TransferMeter,
        threads: TransferThreads, settings: EngineSettings
    ) {
        self.threads = threads
        self.partialPath = partialPath
        self.transport = transport
        self.limiter = limiter
        self.meter = meter
        retry = settings.retry
        minTotal = settings.minDividedLength
        pieceLength = settings.pieceLength
    }

    /// Divides what is missing, with what earlier runs left of it.
    ///
    /// - Parameters:
    ///   - front: bytes in the partial file.
    ///   - trustsUnsynced: whether the machine was not booted since they were written.
    /// - Returns: the bytes that are here already, those in the partial file not counted.
    func divide(_ source: PieceSource, front: Int64, trustsUnsynced: Bool) throws -> Int64 {
        let files = PieceFiles(partialPath: partialPath, validator: source.validator, total: source.total)
        let empty = SegmentTable(total: source.total, length: pieceLength)
        let onDisk = try files.leftovers(in: empty, trustsUnsynced: trustsUnsynced, front: front)
        let table = SegmentTable(total: source.total, length: pieceLength, onDisk: onDisk)
        state.withLock { state in
            state.table = table
            state.work = (source, files)
        }
        meter.setPieces(table.bytesOnDisk, front: front)
        return table.bytesOnDisk
    }

    /// From now on it is known that the server gives parts of the right file, and the journal knows which that is.
    func letHelpersIn() {
        state.withLock { $0.letsHelpersIn = $0.work != nil }
    }

    /// Whether somebody with a slot to spare could bring a piece now.
    var wantsHelp: Bool {
        state.withLock { state in
            state.letsHelpersIn && !state.isClosed && state.obstacle == nil && state.table.hasFreePiece
                && state.restsUntil <= .now
        }
    }

    /// Brings one piece, if one is free.
    /// - Returns: the reason, when the server has too much to do.
    func help() async -> AttemptResult.RetryReason? {
        guard let task = state.withLock({ state in claim(in: &state) }) else { return nil }
        let ending = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        if case .retry(let reason) = ending, reason.isServerBusy { return reason }
        return nil
    }

    /// What the transfer does next, with so many bytes in its partial file.
    func nextStep(ofFrontAt offset: Int64) throws(SegmentError) -> FrontStep {
        let step: Result<FrontStep, SegmentError> = state.withLock { state in
            if let obstacle = state.obstacle { return .failure(SegmentError(obstacle: obstacle)) }
            let reach = state.busy.isEmpty ? Self.longReach : 1
            let mayHelp = state.restsUntil <= .now
            guard let work = state.work else { return .success(.wait(for: nil)) }
            switch state.table.nextStep(ofFrontAt: offset, reach: reach, mayHelp: mayHelp) {
            case .takeOver(let piece):
                return .success(.takeOver(piece: piece, state.table.range(of: piece), work.files))
            case .fetch(let end): return .success(.fetch(end: end))
            case .help(let piece): return .success(.wait(for: begin(piece, in: &state)))
            case .wait(let piece): return .success(.wait(for: state.busy[piece]))
            }
        }
        return try step.get()
    }

    enum FrontStep {
        /// Append what the piece's file holds, and drop that file.
        case takeOver(piece: Int, Range<Int64>, PieceFiles)
        /// Fetch up to this byte, exclusive, straight into the partial file.
        case fetch(end: Int64)
        case wait(for: Task<PieceResult.Ending, Never>?)
    }

    struct SegmentError: Error {
        let obstacle: Obstacle
    }

    /// The transfer has put the piece's bytes into its partial file, which now has so many.
    func takenOver(_ piece: Int, front: Int64) {
        state.withLock { state in
            state.table.takenOver(piece)
            meter.setPieces(state.table.bytesOnDisk, front: front)
        }
    }

    /// Lets nobody in any more and returns when the helpers have come to their end.
    ///
    /// - Parameter breaksOff: whether to stop them at once. What is on its way to them is lost then; else they bring
    ///   their pieces to an end, unless the task is cancelled.
    func close(breaksOff: Bool) async {
        let tasks = state.withLock { state in
            state.isClosed = true
            return Array(state.busy.values)
        }
        if breaksOff { for task in tasks { task.cancel() } }
        await withTaskCancellationHandler {
            for task in tasks { _ = await task.value }
        } onCancel: {
            for task in tasks { task.cancel() }
        }
    }

    /// Deletes the files of pieces; the transfer has come to its end.
    func removeFiles() throws {
        guard state.withLock({ $0.work != nil }) else { return }
        try PieceFiles.removeAll(beside: partialPath)
    }

    private func claim(in state: inout sending State) -> Task<PieceResult.Ending, Never>? {
        guard state.letsHelpersIn, !state.isClosed, state.obstacle == nil, let piece = state.table.claim() else {
            return nil
        }
        return begin(piece, in: &state)
    }

    private func begin(_ piece: Int, in state: inout sending State) -> Task<PieceResult.Ending, Never>? {
        guard let work = state.work, !state.isClosed else { return nil }
        let slot = threads.takeSlot()
        let fetch = PieceFetch(
            source: work.source, files: work.files, range: state.table.range(of: piece), transport: transport,
            limiter: limiter, meter: meter, slot: slot)
        let task = Task(executorPreference: slot.loop) {
            let result = await fetch.run()
            self.finishPiece(piece, result)
            return result.ending
        }
        state.busy[piece] = task
        return task
    }

    private func finishPiece(_ piece: Int, _ result: PieceResult) {
        state.withLock { state in
            state.busy[piece] = nil
            state.table.release(piece, onDisk: result.onDisk)
            switch result.ending {
            case .whole: state.failures = 0
            case .stopped: break
            case .retry(let reason):
                state.failures += 1
                let wait = retry.wait(afterFailures: state.failures, random: .random(in: 0..<1))
                // Without hope the transfer goes on alone, and its own requests decide.
                state.restsUntil = .now + .seconds(wait.map { max($0, reason.after ?? 0) } ?? 3600)
            case .refused: state.restsUntil = .now + .seconds(3600)
            case .contradicted(let why): state.obstacle = .contradiction(why)
            case .failed(let failure): state.obstacle = state.obstacle ?? .failure(failure)
            }
        }
    }
}
