import BookModel
import Foundation
import NIOCore
import NIOHTTP1
import Transport

/// A file that has arrived whole and waits to be published.
struct ReceivedFile: Sendable {
    var wanted: TransferRequest
    var record: TransferRecord
    var partial: PartialFile
    var size: Int64
    var sha256: String
    var verification: LocalFile.Verification
}

/// What one try at a transfer came to.
struct AttemptResult: Sendable {
    enum Ending: Sendable {
        case received(ReceivedFile)
        /// The server still has what is on disk.
        case unchanged
        /// What was held is of no use: begin again, once, for this reason.
        case restart(String)
        case retry(RetryReason)
        case fail(Failure)
        /// The server refuses the address, which may just have expired; with the failure if it has not.
        case expired(Failure)
        /// The run was interrupted; what was received is kept.
        case stopped
    }

    /// Why a transfer is to be tried again.
    struct RetryReason: Sendable {
        var why: String
        /// Seconds that the server asked to wait.
        var after: Double?
        /// Whether the server has too much to do, so that all transfers had better leave it alone for a while.
        var isServerBusy = false
    }

    var ending: Ending
    /// The journal as it stands after the attempt.
    var record: TransferRecord
    /// Bytes that were held before, and put to use.
    var bytesReused: Int64 = 0
    /// Body bytes off the wire.
    var bytesReceived: Int64 = 0
    /// Bytes that the partial file grew by.
    var progress: Int64 = 0

    var isReceived: Bool {
        if case .received = ending { true } else { false }
    }
}

/// One try to bring one episode to disk: open what is held, ask for what is missing, take what the decision allows,
/// hash and write it, and leave the journal in step.
///
/// The order of things is what makes it safe: validators are committed before the first byte they vouch for is
/// written; an offset is committed after the bytes before it are synced.
struct TransferAttempt {
    let transport: HTTPTransport
    let journal: any TransferJournal
    let partialPath: String
    let limiter: RateLimiter?
    /// Of the partial file; a task that prefers it reads and writes without changing threads.
    let thread = PartialFile.newThread()
    let emit: @Sendable (SyncEvent) -> Void

    let wanted: TransferRequest
    private(set) var result: AttemptResult
    /// What the server declared for the whole in the answer at hand.
    private var serverDigest: ContentDigest?
    private var sinceCommit: Int64 = 0
    private var lastReport: ContinuousClock.Instant?

    init(
        wanted: TransferRequest, record: TransferRecord, transport: HTTPTransport, journal: any TransferJournal,
        partialPath: String, limiter: RateLimiter?, emit: @escaping @Sendable (SyncEvent) -> Void
    ) {
        self.wanted = wanted
        self.transport = transport
        self.journal = journal
        self.partialPath = partialPath
        self.limiter = limiter
        self.emit = emit
        self.result = AttemptResult(ending: .stopped, record: record)
    }

    /// - Parameter startOver: whether to throw away what is held first.
    mutating func run(startOver: Bool) async -> AttemptResult {
        do {
            let partial = try await PartialFile.open(partialPath, promised: wanted.episode.digest, on: thread)
            result.ending = await ending(with: partial, startOver: startOver)
            if case .received = result.ending { return result }
            if result.progress > 0 {
                // The transaction must be made even when the run is being cancelled.
                let attempt = self
                result.record = try await Task { try await attempt.committedOffset(of: partial) }.value
            }
            // The file on disk is the right one: what was begun in its stead is of no use.
            if case .unchanged = result.ending { try await partial.truncate(to: 0) }
            await partial.close()
        } catch {
            result.ending = .fail(Self.failure(error))
        }
        return result
    }

    private mutating func ending(with partial: PartialFile, startOver: Bool) async -> AttemptResult.Ending {
        do {
            let held = try await trustedBytes(of: partial, startOver: startOver)
            if let total = held.total, total > 0, held.length == total {
                result.bytesReused = held.length
                return try await verified(partial, total: total)
            }
            return try await fetchRest(behind: held, into: partial)
        } catch is CancellationError {
            return .stopped
        } catch let failure as WireFailure {
            switch failure.disposition {
            case .retry: return .retry(.init(why: failure.why))
            case .skip, .stop: return .fail(self.failure(failure.why, remedy: failure.remedy))
            }
        } catch {
            return .fail(Self.failure(error))
        }
    }

    /// What is held and can be trusted, with everything else cut off and the digests brought up to date. What cannot
    /// be gone on with at all stays until other bytes really arrive to take its place.
    private mutating func trustedBytes(of partial: PartialFile, startOver: Bool) async throws -> HeldBytes {
        let length =
            startOver
            ? 0
            : result.record.resumableBytes(
                ofPartialFile: await partial.length, hasDigest: wanted.episode.digest != nil,
                bootID: BootIdentity.current)
        guard length > 0 else { return HeldBytes() }
        let held = HeldBytes(length: length, validator: result.record.validator, total: result.record.total)
        if await partial.length > held.length { try await partial.truncate(to: held.length) }
        try await partial.digestHeldBytes()
        return held
    }

    private mutating func fetchRest(behind held: HeldBytes, into partial: PartialFile) async throws
        -> AttemptResult.Ending
    {
        guard let address = wanted.episode.address else {
            return .fail(failure("the catalog gives no address for it"))
        }
        let asked = AskedContent.whatIsMissing(from: held, promised: wanted.promised)
        var request = WireRequest(.get, address)
        request.allowsLocalAddresses = wanted.allowsLocalAddresses
        if asked.first > 0 {
            request.headers.add(name: "Range", value: "bytes=\(asked.first)-")
            if let ifRange = asked.ifRange { request.headers.add(name: "If-Range", value: ifRange) }
        } else if let old = wanted.replacing?.validator {
            if let tag = old.entityTag { request.headers.add(name: "If-None-Match", value: tag) }
            if let date = old.lastModified { request.headers.add(name: "If-Modified-Since", value: date) }
        }
        let answer = try await transport.send(request)
        let head = AnswerHead(answer)
        // That of an error is about something else.
        serverDigest = (200..<300).contains(answer.status) ? DeclaredDigest.strongest(in: answer) : nil
        switch decide(held: held, asked: asked, head: head, promised: wanted.promised) {
        case .append(let total, let overlap):
            result.bytesReused = held.length
            return try await take(
                DecodedBody(answer), of: head, total: total, behind: held.length, overlap: overlap, into: partial)
        case .replace(let total):
            return try await take(DecodedBody(answer), of: head, total: total, behind: 0, overlap: 0, into: partial)
        case .replaceDecoded(let coding):
            // What the server declares of the whole, it declares of the coded bytes.
            serverDigest = nil
            var decoded = head
            decoded.validator = ContentValidator()
            let body = DecodedBody(answer, coding, promisedSize: wanted.promised.size)
            do {
                return try await take(body, of: decoded, total: nil, behind: 0, overlap: 0, into: partial)
            } catch let failure as WireFailure where failure.disposition == .skip {
                // What grew without measure is not left lying on the disk.
                try await discard(partial)
                throw failure
            }
        case .complete(let total):
            result.bytesReused = held.length
            return try await verified(partial, total: total)
        case .unchanged:
            guard wanted.replacing != nil else { return .fail(failure("the server answers 304 to a plain request")) }
            return .unchanged
        case .restart(let why): return .restart(why)
        case .retry(let why):
            let wait = RetryPolicy.requestedWait(retryAfter: head.retryAfter, now: Date().timeIntervalSince1970)
            return .retry(.init(why: why, after: wait, isServerBusy: [429, 503].contains(head.status)))
        case .fail(let refusal):
            let failure = failure(refusal.why, remedy: refusal.remedy)
            return [403, 410].contains(head.status) ? .expired(failure) : .fail(failure)
        }
    }

    /// Reads the body to its end. A body from the first byte on is looked at before it touches what is held; the first
    /// `overlap` bytes of one that goes on are compared with what is held.
    private mutating func take(
        _ body: DecodedBody, of head: AnswerHead, total: Int64?, behind offset: Int64, overlap: Int64,
        into partial: PartialFile
    ) async throws -> AttemptResult.Ending {
        var overlap = overlap
        var first = ByteBuffer()
        var isTaken = offset > 0
        if isTaken { try await begin(head, total: total, offset: offset, in: partial) }
        do {
            for try await piece in body {
                var part = piece.bytes
                let received = piece.received
                result.bytesReceived += Int64(received)
                if overlap > 0, let repeated = part.readSlice(length: min(part.readableBytes, Int(overlap))) {
                    guard try await partial.holds(repeated, at: offset - overlap) else {
                        return .restart("the server sent other bytes than those already held")
                    }
                    overlap -= Int64(repeated.readableBytes)
                }
                if isTaken {
                    try await append(part, total: total, to: partial)
                } else {
                    first.writeBuffer(&part)
                }
                if !isTaken, first.readableBytes >= AudioSignature.wanted {
                    if let refused = refusal(ofFirstBytes: first) { return .fail(refused) }
                    try await begin(head, total: total, offset: 0, in: partial)
                    isTaken = true
                    try await append(first, total: total, to: partial)
                }
                try await limiter?.pass(received)
            }
        } catch {
            // Few bytes can look like anything: what may be audio is kept, what may not is asked for again.
            if !isTaken, first.readableBytes > 0, refusal(ofFirstBytes: first) == nil {
                try await begin(head, total: total, offset: 0, in: partial)
                try await append(first, total: total, to: partial)
            }
            throw error
        }
        if !isTaken {
            if first.readableBytes == 0, wanted.episode.size != 0 {
                return .fail(failure(Refusal.emptyAnswer.why, remedy: Refusal.emptyAnswer.remedy))
            }
            if let refused = refusal(ofFirstBytes: first) { return .fail(refused) }
            try await begin(head, total: total, offset: 0, in: partial)
            try await append(first, total: total, to: partial)
        }
        let length = await partial.length
        if let total, length < total { return .retry(.init(why: "the connection was cut")) }
        return try await verified(partial, total: body.provesItsEnd ? length : total)
    }

    private func refusal(ofFirstBytes bytes: ByteBuffer) -> Failure? {
        AudioSignature.foreignContent(in: bytes.readableBytesView).map { found in
            let refusal = Refusal.page(found)
            return failure(refusal.why, remedy: refusal.remedy)
        }
    }

    /// Commits whose bytes are about to be written, and makes room for them.
    private mutating func begin(_ head: AnswerHead, total: Int64?, offset: Int64, in partial: PartialFile) async throws
    {
        if offset == 0 {
            result.record.committedLength = 0
            if await partial.length > 0 { try await discard(partial) }
            result.record.validator = head.validator
        }
        result.record.total = total
        result.record.state = .downloading
        result.record.bootID = BootIdentity.current
        result.record.sha256 = nil
        result.record.path = nil
        try await journal.save([result.record])
        emit(.started(progress(bytesDone: offset)))
        lastReport = .now
    }

    /// First the journal forgets the bytes, then they go: never another validator over them.
    private mutating func discard(_ partial: PartialFile) async throws {
        result.record.committedLength = 0
        result.record.validator = .init()
        result.record.total = nil
        try await journal.save([result.record])
        try await partial.truncate(to: 0)
    }

    private mutating func append(_ part: ByteBuffer, total: Int64?, to partial: PartialFile) async throws {
        var part = part
        let length = await partial.length
        if let total, length + Int64(part.readableBytes) > total {
            part = part.getSlice(at: part.readerIndex, length: Int(max(0, total - length))) ?? ByteBuffer()
        }
        try await partial.append(part)
        result.progress += Int64(part.readableBytes)
        sinceCommit += Int64(part.readableBytes)
        let now = ContinuousClock.now
        if let lastReport, now - lastReport >= .milliseconds(100) {
            self.lastReport = now
            emit(.progressed(progress(bytesDone: length + Int64(part.readableBytes))))
        }
        let rest = (total ?? .max) - length
        if sinceCommit >= EngineSettings.commitInterval, rest > EngineSettings.commitInterval / 2 {
            sinceCommit = 0
            result.record = try await committedOffset(of: partial)
        }
    }

    /// Syncs the partial file, then commits its length: the part that a power cut leaves whole.
    private func committedOffset(of partial: PartialFile) async throws -> TransferRecord {
        var record = result.record
        let length = await partial.length
        try await partial.sync()
        record.committedLength = record.total.map { min(length, $0) } ?? length
        try await journal.save([record])
        return record
    }

    private mutating func verified(_ partial: PartialFile, total: Int64?) async throws -> AttemptResult.Ending {
        let size = await partial.length
        var verification: LocalFile.Verification =
            total != nil || wanted.episode.size == size ? .length : .unverified
        if let promised = await partial.promisedDigest(), let declared = wanted.episode.digest {
            guard promised.fits else {
                return .restart(
                    "its \(declared.algorithm.rawValue) is \(promised.found), the catalog says \(declared.hexadecimal)")
            }
            verification = .digest
        }
        if let declared = serverDigest {
            let comparison = try await partial.compare(with: declared)
            guard comparison.fits else {
                // What the server declared is not kept: the next run would find a whole file and nothing against it.
                try await discard(partial)
                return .restart(
                    "its \(declared.algorithm.rawValue) is \(comparison.found), the server says \(declared.hexadecimal)"
                )
            }
            verification = .digest
        }
        result.record.state = .verifying
        return .received(
            ReceivedFile(
                wanted: wanted, record: result.record, partial: partial, size: size,
                sha256: await partial.sha256Digest(), verification: verification))
    }

    private func progress(bytesDone: Int64) -> TransferProgress {
        TransferProgress(
            episode: wanted.episode.identity, section: wanted.episode.section, name: wanted.episode.name,
            path: wanted.path, bytesDone: bytesDone, bytesReused: result.bytesReused, total: result.record.total)
    }

    private func failure(_ why: String, remedy: String? = nil) -> Failure {
        wanted.failure(why, remedy: remedy)
    }

    private static func failure(_ error: any Error) -> Failure {
        error as? Failure
            ?? Failure(.defect, disposition: .stop, what: "a transfer failed in an unforeseen way", why: "\(error)")
    }
}

extension TransferRequest {
    /// A failure of this episode alone.
    func failure(_ why: String, remedy: String? = nil) -> Failure {
        Failure(
            .temporary, what: "episode \(episode.section) \(episode.name) could not be fetched", why: why,
            remedy: remedy)
    }
}
