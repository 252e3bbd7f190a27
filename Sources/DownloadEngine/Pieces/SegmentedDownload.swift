import BookModel
import Foundation
import LibraryFiles
import NIOCore
import Synchronization
import Transport

/// The pieces of one large transfer while a try at it is under way: who fetches which, and what came of it.
///
/// The transfer itself opens the board once a server has shown that it gives parts of the right file; from then on
/// whoever has a slot to spare may ``help()``. All bytes that helpers brought are in their places when ``close()`` returns.
final class SegmentedDownload: Sendable {
    private struct State {
        var table = SegmentTable(total: 0, length: 1)
        /// Set when the transfer goes on in pieces.
        var source: PieceSource?
        /// Of the partial file, which the transfer has open; and how many bytes it has at the front.
        var (descriptor, path): (CInt, String) = (-1, "")
        var front: Int64 = 0
        var synced: [Range<Int64>] = []
        var letsHelpersIn = false
        var isClosed = false
        var busy: [Int: Task<PieceEnding, Never>] = [:]
        /// Why the transfer cannot go on in pieces.
        var obstacle: Obstacle?
        var failures = 0
        var restsUntil = ContinuousClock.now
    }

    enum Obstacle: Error {
        case contradiction(Message)
        case failure(Failure)
    }

    /// Pieces that the transfer asks for in one request while nobody helps: each request costs a round trip.
    private static let longReach = 4

    /// Bytes from which on a file is large enough to be divided, and of its pieces.
    let minTotal: Int64
    private let pieceLength: Int64
    private let transport: HTTPTransport
    private let limiter: [RateLimiter]
    private let meter: TransferMeter
    private let threads: EngineThreads
    private let retry: RetryPolicy
    private let state = Mutex(State())

    init(
        transport: HTTPTransport, limiter: [RateLimiter], meter: TransferMeter,
        threads: EngineThreads, settings: EngineSettings
    ) {
        self.threads = threads
        self.transport = transport
        self.limiter = limiter
        self.meter = meter
        retry = settings.retry
        minTotal = settings.minDividedLength
        pieceLength = settings.pieceLength
    }

    /// Divides what is missing, with what earlier runs left of it.
    /// - Returns: the bytes that are here already ahead of those at the front.
    func divide(_ source: PieceSource, of partial: PartialFile) -> Int64 {
        let parts = partial.parts.flatMap { $0.version == source.version ? $0 : nil }
        let table = SegmentTable(
            total: source.total, length: pieceLength, held: parts?.trusted ?? [], front: partial.length)
        state.withLock { state in
            state.table = table
            state.source = source
            (state.descriptor, state.path, state.front) = (partial.descriptor, partial.path, partial.length)
            state.synced = parts?.synced ?? []
        }
        meter.setPieces(table.bytesOnDisk, front: partial.length)
        return table.bytesOnDisk
    }

    /// Whether the transfer goes on in pieces.
    var isDivided: Bool { state.withLock { $0.source != nil && !$0.isClosed } }

    /// From now on it is known that the server gives parts of the right file, and the journal knows which that is.
    /// - Returns: whether the file is in parts from now on.
    func letHelpersIn() -> Bool {
        state.withLock { state in
            guard let source = state.source, !state.isClosed else { return false }
            // Before any byte is written ahead: the length of the file tells nothing from then on.
            let isNoted = note(state)
            state.letsHelpersIn = isNoted && ftruncate(state.descriptor, off_t(source.total + 1)) == 0
            return isNoted
        }
    }

    /// Writes beside the file's bytes which of them are there.
    @discardableResult
    private func note(_ state: borrowing State) -> Bool {
        guard let source = state.source, let bootID = BootIdentity.current else { return false }
        return HeldParts(
            version: source.version, bootID: bootID, written: state.table.held(front: state.front), synced: state.synced
        ).write(to: state.descriptor)
    }

    /// The transfer has so many bytes at the front now.
    func moveFront(to length: Int64) {
        state.withLock { state in
            guard state.letsHelpersIn, !state.isClosed else { return }
            state.front = length
            note(state)
        }
    }

    /// Writes bytes of a piece to their place in the file. Blocks on the disk.
    func write(_ part: ByteBuffer, at offset: Int64, of piece: Int) throws {
        let (descriptor, path) = state.withLock { ($0.descriptor, $0.path) }
        var count: Int64 = 0
        defer {
            state.withLock { state in
                state.table.grow(piece, by: count)
                note(state)
            }
            meter.grewPiece(by: count)
        }
        try part.withUnsafeReadableBytes { bytes in
            try PartialFile.write(bytes, to: descriptor, at: offset, of: path) { count += Int64($0) }
        }
    }

    /// Returns when all that is there is on the disk itself, and noted as that. Blocks on the disk.
    func sync() throws {
        let (descriptor, path, held) = state.withLock { ($0.descriptor, $0.path, $0.table.held(front: $0.front)) }
        try PartialFile.sync(descriptor, at: path)
        state.withLock { state in
            state.synced = held
            note(state)
        }
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
    func nextStep(ofFrontAt offset: Int64) throws(Obstacle) -> FrontStep {
        let step: Result<FrontStep, Obstacle> = state.withLock { state in
            if let obstacle = state.obstacle { return .failure(obstacle) }
            let reach = state.busy.isEmpty ? Self.longReach : 1
            let mayHelp = state.restsUntil <= .now
            guard state.source != nil else { return .success(.wait(for: nil)) }
            switch state.table.nextStep(ofFrontAt: offset, reach: reach, mayHelp: mayHelp) {
            case .takeOver(let piece):
                let start = state.table.range(of: piece).lowerBound
                return .success(.takeOver(piece: piece, end: start + (state.table.onDisk[piece] ?? 0)))
            case .fetch(let end): return .success(.fetch(end: end))
            case .help(let piece): return .success(.wait(for: begin(piece, in: &state)))
            case .wait(let piece): return .success(.wait(for: state.busy[piece]))
            }
        }
        return try step.get()
    }

    enum FrontStep {
        /// Take over what is there of a piece, up to this byte, exclusive.
        case takeOver(piece: Int, end: Int64)
        /// Fetch up to this byte, exclusive.
        case fetch(end: Int64)
        case wait(for: Task<PieceEnding, Never>?)
    }

    /// The transfer has taken over a piece, and has so many bytes at the front now.
    func takenOver(_ piece: Int, front: Int64) {
        state.withLock { state in
            state.table.takenOver(piece)
            state.front = front
            note(state)
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

    private func claim(in state: inout sending State) -> Task<PieceEnding, Never>? {
        guard state.letsHelpersIn, !state.isClosed, state.obstacle == nil, let piece = state.table.claim() else {
            return nil
        }
        return begin(piece, in: &state)
    }

    private func begin(_ piece: Int, in state: inout sending State) -> Task<PieceEnding, Never>? {
        guard let source = state.source, state.letsHelpersIn, !state.isClosed else { return nil }
        let fetch = PieceFetch(
            source: source, download: self, piece: piece, range: state.table.range(of: piece),
            held: state.table.onDisk[piece] ?? 0, transport: transport, limiter: limiter,
            disk: threads.disk(of: piece))
        let task = Task(executorPreference: threads.loops[piece % threads.loops.count]) {
            let ending = await fetch.run()
            self.finishPiece(piece, ending)
            return ending
        }
        state.busy[piece] = task
        return task
    }

    private func finishPiece(_ piece: Int, _ ending: PieceEnding) {
        state.withLock { state in
            state.busy[piece] = nil
            state.table.release(piece)
            switch ending {
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
