import BookModel
import Foundation
import LibraryFiles
import NIOCore
import Synchronization
import Transport

/// The pieces of one large transfer while a try at it is under way: who fetches which, and what came of it.
///
/// The transfer itself opens the board once a server has shown that it gives parts of the right file; from then on
/// whoever has a slot to spare may ``help()``. All bytes that helpers brought are in their places when ``close(breaksOff:)`` returns.
final class SegmentedDownload: Sendable {
    /// What a try to bring one piece came to; nil when the piece is whole.
    private typealias Fetch = Task<AttemptResult.Ending?, Never>

    private struct State {
        var table = SegmentTable(total: 0, length: 1)
        /// Set when the transfer goes on in pieces.
        var source: PieceSource?
        /// The partial file was noted to be of the source: what its note says lies ahead of its front is gone on from.
        var isOfSource = false
        /// Of the partial file, which the transfer has open; and how many bytes it has at the front.
        var (descriptor, path): (CInt, String) = (-1, "")
        var front: Int64 = 0
        var synced: [Range<Int64>] = []
        /// Bytes that are there and not noted yet.
        var unnoted: Int64 = 0
        var letsHelpersIn = false
        var whenDivided: (@Sendable () -> Void)?
        var isClosed = false
        /// The transfer goes on to its end without others, and over the parts that are there.
        var isAlone = false
        var busy: [Int: Fetch] = [:]
        /// Bytes that helpers received and nobody has accounted for yet.
        var broughtByHelpers: Int64 = 0
        /// How the transfer ends that cannot go on in pieces.
        var ending: AttemptResult.Ending?
        var failures = 0
        /// Bytes a second that a helper brought last.
        var pace = 0.0
        var restsUntil = ContinuousClock.now

        var mayHelp: Bool { letsHelpersIn && !isClosed && ending == nil }
        /// Bytes that are there ahead of those at the front. Of the parts of a file that is begun anew nobody takes any.
        var ahead: Int64 { isClosed ? 0 : table.bytesOnDisk }
        /// Of the file that are there.
        var bytes: Int64 { front + ahead }
    }

    /// Bytes that a kill may cost: a note costs as much as writing them.
    private static let noteInterval: Int64 = 32 << 10
    /// Seconds for which nobody helps where there is no hope: the transfer goes on alone, and its own requests decide.
    private static let hopelessRest = 3600.0
    /// Seconds or so for which a slot is lent: others may have come by then who wait for it.
    private static let loan = 8.0

    private let pieceLength: Int64
    /// Pieces that are asked for in one request at most: each request costs a round trip.
    private let longReach: Int
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
        pieceLength = settings.pieceLength
        longReach = max(1, Int(settings.minDividedLength / 2 / pieceLength))
    }

    /// Divides what is missing, with what earlier runs left of it.
    /// - Parameter existing: how many bytes of the file are gone on from; where it has others at its beginning, it is begun anew.
    /// - Returns: the bytes that are here already ahead of those at the front.
    func divide(_ source: PieceSource, of partial: PartialFile, behind existing: Int64) -> Int64 {
        let isOfSource = partial.length == existing && partial.note?.isOf(source.validator, total: source.total) == true
        let note = isOfSource ? partial.note : nil
        let table = SegmentTable(
            total: source.total, length: pieceLength, held: note?.trustedParts ?? [], front: existing)
        state.withLock { state in
            state.table = table
            (state.source, state.isOfSource) = (source, isOfSource)
            (state.descriptor, state.path, state.front) = (partial.descriptor, partial.path, existing)
            state.synced = note?.synced ?? []
        }
        return table.bytesOnDisk
    }

    /// Whether the transfer goes on in pieces, and the parts that lie in the file are of it.
    var keepsParts: Bool { state.withLock { $0.isOfSource && !$0.isClosed } }

    /// Bytes that are there ahead of those at the front.
    var bytesAhead: Int64 { state.withLock { $0.ahead } }

    /// How the transfer ends where it cannot go on in pieces.
    var ending: AttemptResult.Ending? { state.withLock { $0.ending } }

    /// From now on it is known that the server gives parts of the right file, and the journal knows which that is.
    /// - Returns: whether the file is in parts from now on.
    func letHelpersIn() -> Bool {
        let (isNoted, whenDivided) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            guard let source = state.source, !state.isClosed else { return (false, nil) }
            // Before any byte is written ahead: the length of the file tells nothing from then on.
            let isNoted = note(&state)
            state.letsHelpersIn = isNoted && ftruncate(state.descriptor, off_t(source.total + 1)) == 0
            // Not after a failure: its server is left alone for a moment.
            return (isNoted, state.letsHelpersIn && state.front == 0 ? state.whenDivided : nil)
        }
        whenDivided?()
        return isNoted
    }

    /// Has others look for work when they may help.
    func whenDivided(_ look: @escaping @Sendable () -> Void) { state.withLock { $0.whenDivided = look } }

    /// So many bytes came: they are noted now and then.
    private func note(_ count: Int64, in state: inout State) {
        state.unnoted += count
        if state.unnoted >= Self.noteInterval { note(&state) }
        meter.move(to: state.bytes)
    }

    /// Writes beside the file's bytes which of them are there.
    @discardableResult
    private func note(_ state: inout State) -> Bool {
        guard let source = state.source, let bootID = BootIdentity.current else { return false }
        let note = PartialNote(
            validator: source.validator, total: source.total, bootID: bootID, synced: state.synced,
            written: state.table.held(front: state.front))
        let isNoted = note.fileNote.write(to: state.descriptor)
        if isNoted { state.unnoted = 0 }
        return isNoted
    }

    /// The transfer goes on to its end without others. What it brings is noted all the same, since the file's length tells nothing.
    func goOnAlone() { state.withLock { $0.isAlone = true } }

    /// The transfer has so many bytes at the front now.
    /// - Parameter piece: one that it has taken over.
    func moveFront(to length: Int64, takingOver piece: Int? = nil) {
        state.withLock { state in
            if let piece { state.table.takenOver(piece) }
            let count = length - state.front
            state.front = length
            let isNoted = state.isAlone || state.letsHelpersIn && !state.isClosed
            if isNoted { note(count, in: &state) } else { meter.move(to: state.bytes) }
        }
    }

    /// Whether somebody with a slot to spare could bring a piece now.
    var wantsHelp: Bool {
        state.withLock { $0.mayHelp && $0.table.hasFreePiece && $0.restsUntil <= .now }
    }

    /// Brings one piece or several, if one is free.
    /// - Returns: the reason, when the server has too much to do.
    func help() async -> AttemptResult.RetryReason? {
        let task = state.withLock { state -> Fetch? in
            guard state.mayHelp, let pieces = state.table.claim(atMost: share(in: state)) else { return nil }
            return begin(pieces, in: &state)
        }
        guard case .retry(let reason) = await ending(of: task), reason.isServerBusy else { return nil }
        return reason
    }

    /// Pieces for one request.
    private func share(in state: State) -> Int {
        state.table.share(atMost: min(longReach, Int(state.pace * Self.loan / Double(pieceLength))))
    }

    /// What the transfer does next, with so many bytes in its partial file. A piece that it helps with is begun.
    func nextStep(ofFrontAt offset: Int64) -> SegmentTable.FrontStep {
        state.withLock { state in
            // While others help, what they learn of the file is heard soon.
            let reach = state.busy.isEmpty ? longReach : min(2, share(in: state))
            let step = state.table.nextStep(ofFrontAt: offset, reach: reach, mayHelp: state.restsUntil <= .now)
            if case .wait(_, let pieces?) = step { _ = begin(pieces, in: &state) }
            return step
        }
    }

    /// Returns when a piece is no longer being fetched; a cancelled task ends that.
    func wait(for piece: Int) async { _ = await ending(of: state.withLock { $0.busy[piece] }) }

    private func ending(of task: Fetch?) async -> AttemptResult.Ending? {
        await withTaskCancellationHandler {
            await task?.value
        } onCancel: {
            task?.cancel()
        }
    }

    /// Lets nobody in any more and returns when the helpers have come to their end.
    ///
    /// - Parameter breaksOff: whether to stop them at once. What is on its way to them is lost then; else they bring
    ///   their pieces to an end, unless the task is cancelled.
    /// - Returns: bytes that helpers received since this was last asked.
    func close(breaksOff: Bool) async -> Int64 {
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
        return state.withLock { state in
            defer { state.broughtByHelpers = 0 }
            if state.unnoted > 0 { note(&state) }
            // Whoever closes once more may have begun another version.
            state.unnoted = 0
            return state.broughtByHelpers
        }
    }

    // MARK: A piece

    private func begin(_ pieces: Range<Int>, in state: inout sending State) -> Fetch? {
        guard let source = state.source else { return nil }
        let range = state.table.range(of: pieces)
        let missing = range.lowerBound + (state.table.onDisk[pieces.lowerBound] ?? 0)..<range.upperBound
        // A worker's next piece comes over the connection that its last one came over, and both are of its loop.
        let task = Fetch(executorPreference: LoopExecutor.current) {
            let ending = await self.fetch(missing, from: source)
            self.finish(pieces, ending)
            return ending
        }
        for piece in pieces { state.busy[piece] = task }
        return task
    }

    /// One try to bring what is missing of pieces to its place.
    /// - Returns: nil when they are whole, or as many of them as the time was for.
    private func fetch(_ missing: Range<Int64>, from source: PieceSource) async -> AttemptResult.Ending? {
        do {
            var offset = missing.lowerBound
            let begin = ContinuousClock.now
            repeat {
                let begun = offset
                let ending = try await ask(source, upTo: missing.upperBound, from: &offset, since: begin)
                if let ending { return ending }
                // A server may send less than was asked for, but not nothing.
                guard offset > begun else { return .retry(.init(why: "the connection was cut")) }
            } while offset < missing.upperBound && !isOver(since: begin)
            state.withLock { $0.pace = Double(offset - missing.lowerBound) / max(0.001, (.now - begin) / .seconds(1)) }
            try await syncAside(offset)
            return nil
        } catch is CancellationError {
            return .stopped
        } catch let failure as TransportError {
            var reason = AttemptResult.RetryReason(failure)
            if failure.disposition != .retry { reason.after = Self.hopelessRest }
            return .retry(reason)
        } catch {
            return .fail(.of(error))
        }
    }

    /// - Returns: nil when everything that was asked for has come.
    private func ask(
        _ source: PieceSource, upTo upperBound: Int64, from offset: inout Int64, since begin: ContinuousClock.Instant
    ) async throws -> AttemptResult.Ending? {
        let onDisk = PartialContent(length: offset, validator: source.validator, total: source.total)
        let asked = RangeRequest(first: offset, last: upperBound - 1, ifRange: source.validator.ifRange)
        let answer = try await transport.send(source.request.asking(for: asked))
        let head = ResponseHead(answer)
        let end: Int64
        switch decide(existing: onDisk, asked: asked, head: head) {
        case .append(_, let last, overlap: 0): end = last + 1
        case .append where head.status == 206: return .restart("the server sent another part than the one asked for")
        case .restart(let why): return .restart(why)
        case .replace where head.validator.ifRange != source.validator.ifRange:
            return .restart("the server sent the whole instead of a part")
        case .retry(let why): return .retry(.init(why: why, answer: answer))
        // The transfer itself will hear why.
        case .append, .replace, .complete, .unchanged, .fail:
            return .retry(.init(why: "the server answers \(answer.status)", after: Self.hopelessRest))
        }
        for try await var part in answer.body {
            let (received, room) = (part.readableBytes, Int(end - offset))
            if received > room { part = part.getSlice(at: part.readerIndex, length: room) ?? .init() }
            try write(part, at: offset)
            let piece = offset / pieceLength
            offset += Int64(part.readableBytes)
            if offset / pieceLength > piece {
                if isOver(since: begin) { return nil }
                if piece.isMultiple(of: 2) { try await syncAside(offset) }
            }
            try await limiter.pass(received)
            // What comes behind the part may have no end.
            if received > room { break }
        }
        return nil
    }

    /// Writes bytes of pieces to their place in the file. Blocks on the disk.
    private func write(_ part: ByteBuffer, at offset: Int64) throws {
        let (descriptor, path) = state.withLock { ($0.descriptor, $0.path) }
        var count: Int64 = 0
        defer {
            state.withLock { state in
                state.table.grow(by: offset..<offset + count)
                state.broughtByHelpers += count
                note(count, in: &state)
            }
        }
        try part.withUnsafeReadableBytes { bytes in
            try writeAll(bytes, to: descriptor, at: offset, "the partial file \(path) cannot be written") {
                count += Int64($0)
            }
        }
    }

    /// Whether a helper that began then stops at the end of its piece: it is slower than the last one was, or no longer needed.
    private func isOver(since begin: ContinuousClock.Instant) -> Bool {
        ContinuousClock.now - begin > .seconds(2 * Self.loan) || state.withLock { !$0.mayHelp }
    }

    /// As ``sync()`` does, on a thread that may block.
    private func syncAside(_ offset: Int64) async throws {
        try await withTaskExecutorPreference(threads.disk(of: Int(offset / pieceLength))) { try sync() }
    }

    /// Returns when all that is there is on the disk itself, and noted as that. Blocks on the disk.
    func sync() throws {
        let (descriptor, path, held) = state.withLock { ($0.descriptor, $0.path, $0.table.held(front: $0.front)) }
        try PartialFile.sync(descriptor, at: path)
        state.withLock { state in
            // Another one may have been faster, and told of more.
            if held.bytes > state.synced.bytes { state.synced = held }
            note(&state)
        }
    }

    private func finish(_ pieces: Range<Int>, _ ending: AttemptResult.Ending?) {
        state.withLock { state in
            for piece in pieces { state.busy[piece] = nil }
            state.table.release(pieces)
            switch ending {
            case nil: state.failures = 0
            case .retry(let reason):
                state.failures += 1
                let wait = retry.wait(afterFailures: state.failures, random: .random(in: 0..<1))
                state.restsUntil = .now + .seconds(max(wait ?? Self.hopelessRest, reason.after ?? 0))
            case .stopped: break
            case .restart: state.ending = ending
            default: state.ending = state.ending ?? ending
            }
        }
    }
}
