import BookModel
import Foundation
import LibraryFiles
import NIOCore
import NIOHTTP1
import Transport

/// One try to bring one episode to disk: open what is held, ask for what is missing, take what the decision allows,
/// hash and write it, and leave the journal in step.
///
/// The order of things is what makes it safe: validators are committed, or written into a small file's attributes, before
/// the first byte they vouch for is written; an offset is committed after the bytes before it are synced.
struct TransferAttempt: Sendable {
    let tools: EngineTools
    let transport: HTTPTransport
    private let partialPath: String
    private let limiter: [RateLimiter]
    let disk: SerialQueueExecutor
    /// Where others help to bring a large file; nil when it is not to be divided.
    let pieces: SegmentedDownload?
    let meter: TransferMeter
    private let startsOver: Bool

    let wanted: TransferRequest
    var result: AttemptResult
    /// What the server declared for the whole in the answer at hand.
    private var serverDigest: ContentDigest?
    var sinceCommit: Int64 = 0
    /// Bytes of the whole, as far as they are known beforehand.
    let length: Int64?
    /// Where the body of an earlier attempt ended, without a declared length and before the catalog's size.
    private let endedEarly: Int64?
    /// Length of the partial file when the body at hand has come whole; nil where the server declares none.
    private var bodyEnd: Int64?
    /// Whether there was a response to the last request.
    private var isAnswered = true
    /// Bytes since the room was last looked at.
    private var sinceLook: Int64 = 0
    /// Whether the journal knows what the bytes belong to that are being written.
    private(set) var hasBegun = false

    /// - Parameters:
    ///   - index: in the run.
    ///   - isDivided: whether others may help.
    init(_ transfer: EngineRun.Transfer, at index: Int, isDivided: Bool, meter: TransferMeter, tools: EngineTools) {
        (self.tools, self.meter, wanted) = (tools, meter, transfer.wanted)
        disk = tools.threads.disk(of: index)
        transport = tools.transport.using(wanted.access)
        partialPath = tools.partialFolder + "/" + transfer.partialName
        limiter = tools.rates.limiters(of: wanted.episode.identity.book.source)
        (length, endedEarly, startsOver) = (transfer.length, transfer.endedEarly, transfer.mustStartOver)
        pieces =
            isDivided
            ? SegmentedDownload(
                transport: transport, limiter: limiter, meter: meter, threads: tools.threads,
                settings: tools.settings)
            : nil
        result = AttemptResult(ending: .stopped, record: transfer.record)
    }

    mutating func run() async -> AttemptResult {
        do {
            let partial = try PartialFile(partialPath, promised: wanted.episode.digest)
            do {
                result.ending = await ending(with: partial)
                try await finish(with: partial)
            } catch {
                // The next attempt opens the file again: its lock must be free by then.
                partial.close()
                throw error
            }
        } catch {
            result.ending = .fail(.of(error))
        }
        return result
    }

    /// Does what may block for long, and keeps nobody else from working.
    func aside<Value>(_ work: () throws -> Value) async rethrows -> Value {
        try await withTaskExecutorPreference(disk) { try work() }
    }

    /// Ends the use of the partial file, unless it is received whole: then it is the publisher's.
    private mutating func finish(with partial: PartialFile) async throws {
        let goesOn = if case .retry = result.ending { true } else { false }
        await endHelp(isOfUse: goesOn)
        if result.isReceived { return }
        if result.progress > 0 {
            try await commitOffset(of: partial)
        }
        // The file on disk is the right one: what was begun in its stead is of no use.
        if case .unchanged = result.ending { try partial.truncate(to: 0) }
        partial.close()
    }

    private mutating func ending(with partial: PartialFile) async -> AttemptResult.Ending {
        do {
            let existing = try await trustedBytes(of: partial)
            if existing.isWhole {
                result.bytesReused = existing.length
                return try await verified(partial, total: existing.total)
            }
            return try await fetchRest(behind: existing, into: partial)
        } catch is CancellationError {
            return .stopped
        } catch let failure as TransportError {
            switch failure.disposition {
            case .retry:
                var reason = AttemptResult.RetryReason(failure)
                if !isAnswered, failure.isOfConnection { reason.isServerBusy = true }
                return .retry(reason)
            case .skip, .stop: return .fail(self.failure(failure.why, remedy: failure.remedy))
            }
        } catch {
            return .fail(.of(error))
        }
    }

    /// What is held and can be trusted, with everything else cut off and the digests brought up to date. What cannot
    /// be gone on with at all stays until other bytes really arrive to take its place.
    private mutating func trustedBytes(of partial: PartialFile) async throws -> PartialContent {
        guard partial.length > 0, !startsOver else { return PartialContent() }
        result.record.complete(from: partial.note)
        let length = result.record.resumableBytes(
            ofPartialFile: partial.length, hasDigest: wanted.episode.digest != nil, bootID: BootIdentity.current)
        guard length > 0 else { return PartialContent() }
        var existing = PartialContent(length: length, validator: result.record.validator, total: result.record.total)
        // The last byte is asked for again: the answer says whether the server still has this version.
        if existing.isWhole, wanted.episode.listsAnotherVersion(than: existing) {
            try partial.endParts()
            existing.length -= 1
        }
        if partial.length > existing.length { try partial.truncate(to: existing.length) }
        try await aside { try partial.digestExistingBytes() }
        return existing
    }

    private mutating func fetchRest(behind existing: PartialContent, into partial: PartialFile) async throws
        -> AttemptResult.Ending
    {
        guard let address = wanted.episode.address else {
            return .fail(failure("the catalog gives no address for it"))
        }
        var request = HTTPRequest(.get, address)
        request.isForDocument = false
        if existing.length == 0, let file = wanted.replacing {
            // A server that does not answer to this says whether it still has the file when it is asked for the audio.
            var question = request
            question.addConditions(of: file.validator)
            let (answer, ending) = try await head(of: question)
            if let ending { return ending }
            let isSame = answer.status == 200 && ResponseHead(answer).isOf(file, listedWith: wanted.episode.size)
            if isSame || answer.status == 304 { return .unchanged }
        }
        if let ending = try await fetchInPieces(request, behind: existing, into: partial) { return ending }
        try partial.endParts()
        var existing = existing
        var asked = RangeRequest.whatIsMissing(from: existing, promised: wanted.promised)
        if asked.range == nil, let file = wanted.replacing { request.addConditions(of: file.validator) }
        // A server may send less than was asked for. One that does not tell the total is asked as far as the catalog's size.
        repeat {
            if let ending = try await fetch(request, asking: asked, behind: existing, into: partial) { return ending }
            existing = PartialContent(
                length: partial.length, validator: result.record.validator, total: result.record.total)
            asked = RangeRequest.whatIsMissing(from: existing, promised: wanted.promised)
        } while existing.length < existing.total ?? wanted.promised.size ?? 0
        return try await verified(partial, total: result.record.total)
    }

    /// Asks for the head alone.
    /// - Returns: the answer, and how the attempt ends where the server wants no further request for now.
    mutating func head(
        of request: HTTPRequest
    ) async throws -> (answer: HTTPResponse, ending: AttemptResult.Ending?) {
        var request = request
        request.method = .head
        isAnswered = false
        let answer = try await transport.send(request)
        isAnswered = true
        let reason = AttemptResult.RetryReason(why: "the server answers \(answer.status)", answer: answer)
        let isPutOff = reason.isRateLimit || reason.isServerBusy && reason.after != nil
        return (answer, isPutOff ? .retry(reason) : nil)
    }

    /// Sends one request and takes what the decision allows.
    /// - Returns: nil when everything that was asked for has come, and the file may go on behind it.
    mutating func fetch(
        _ request: HTTPRequest, asking asked: RangeRequest, behind existing: PartialContent, into partial: PartialFile
    ) async throws -> AttemptResult.Ending? {
        isAnswered = false
        let answer = try await transport.send(request.asking(for: asked))
        isAnswered = true
        if answer.status < 500, answer.status != 429 { result.respondingServer = answer.address.server }
        let head = ResponseHead(answer)
        // That of an error is about something else.
        if (200..<300).contains(answer.status) {
            serverDigest = DeclaredDigest.strongest(in: answer) ?? serverDigest
            result.answered = head.validator
        }
        if answer.status == 200, let file = wanted.replacing, head.isOf(file, listedWith: wanted.episode.size) {
            return .unchanged
        }
        switch decide(
            existing: existing, asked: asked, head: head, promised: asked.last == nil ? wanted.promised : .init())
        {
        case .append(let total, let last, let overlap):
            if head.status != 206 {
                // A server that sends the whole gives no parts.
                await endHelp(isOfUse: false)
                if partial.isInParts { pieces?.goOnAlone() }
            }
            if head.status != 206 || asked.last == nil { result.bytesReused = existing.length - result.progress }
            if hasBegun, let total { result.record.total = total }
            return try await take(
                await DecodedBody(answer), of: head, total: total, behind: existing.length, overlap: overlap,
                upTo: last, into: partial)
        case .replace(let total, let coding):
            // What others bring of the file that was begun is of no use beside this one.
            await endHelp(isOfUse: false)
            result.bytesReused = 0
            guard coding == .identity else { return try await takeDecoded(answer, coding, of: head, into: partial) }
            return try await takeWhole(await DecodedBody(answer), of: head, total: total, into: partial)
        case .complete(let total):
            if result.progress == 0 { result.bytesReused = existing.length }
            return try await verified(partial, total: total)
        case .unchanged:
            guard wanted.replacing != nil else { return .fail(failure("the server answers 304 to a plain request")) }
            return .unchanged
        case .restart(let why): return .restart(why)
        case .retry(let why): return .retry(.init(why: why, answer: answer))
        case .fail(let refusal):
            result.isForGood = refusal.isForGood
            let failure = wanted.failure(
                refusal.why, remedy: refusal.remedy, kind: refusal.isOfCredentials ? .credentialsRejected : .temporary,
                reason: refusal.isMissing ? .missingAtSource : nil)
            return mayHaveExpired(answer, holding: partial.length) ? .expired(failure) : .fail(failure)
        }
    }

    /// Whether the server may refuse the address only because the address was good for some time. Servers that sign
    /// addresses answer many things then.
    private func mayHaveExpired(_ answer: HTTPResponse, holding length: Int64) -> Bool {
        switch answer.status {
        case 403, 410: true
        case 404 where wanted.hasMirror: true
        case 401 where answer.first("WWW-Authenticate") != nil: false
        case 400, 401, 404: length > 0 || wanted.episode.address?.secretText.contains("?") == true
        default: false
        }
    }

    /// Reads the body to its end. A body from the first byte on is looked at before it touches what is held; the first
    /// `overlap` bytes of one that goes on are compared with what is held.
    /// - Returns: nil when it has come whole.
    private mutating func take(
        _ body: DecodedBody, of head: ResponseHead, total: Int64?, behind offset: Int64, overlap: Int64,
        upTo last: Int64?, into partial: PartialFile
    ) async throws -> AttemptResult.Ending? {
        bodyEnd = last.map { $0 + 1 } ?? total
        var room = bodyEnd.map { $0 - offset + overlap } ?? .max
        var overlap = overlap
        var first = ByteBuffer()
        var isTaken = offset > 0
        if isTaken, !hasBegun { try await begin(head.validator, total: total, offset: offset, in: partial) }
        do {
            for try await piece in body {
                var part = piece.bytes
                let received = piece.received
                result.bytesReceived += Int64(received)
                if overlap > 0, let repeated = part.readSlice(length: min(part.readableBytes, Int(overlap))) {
                    guard try partial.holds(repeated, at: offset - overlap) else {
                        return .restart("the server sent other bytes than those already held")
                    }
                    overlap -= Int64(repeated.readableBytes)
                    result.bytesRepeated += Int64(repeated.readableBytes)
                }
                if isTaken {
                    try await append(part, total: total, to: partial)
                } else if first.readableBytes == 0 {
                    first = part
                } else {
                    first.writeBuffer(&part)
                }
                if !isTaken, first.readableBytes >= AudioSignature.wanted, !mayBePadding(first) {
                    isTaken = true
                    if let refused = try await takeFirst(first, of: head, total: total, into: partial) {
                        return .fail(refused)
                    }
                }
                try await limiter.pass(received)
                room -= Int64(received)
                // What comes behind the end of what was asked for may have no end.
                if room < 0 { break }
            }
        } catch let failure as TransportError where failure.kind == .notClosed {
            result.isNotClosed = true
        } catch {
            // Few bytes can look like anything: what may be audio is kept, what may not is asked for again.
            if !isTaken, first.readableBytes > 0 {
                _ = try await takeFirst(first, of: head, total: total, into: partial)
            }
            throw error
        }
        if !isTaken {
            if first.readableBytes == 0, wanted.episode.size != 0 {
                return .fail(failure(Rejection.emptyAnswer.why, remedy: Rejection.emptyAnswer.remedy))
            }
            if let refused = try await takeFirst(first, of: head, total: total, into: partial) { return .fail(refused) }
        }
        if let bodyEnd, partial.length < bodyEnd { return .retry(.init(why: "the connection was cut")) }
        return nil
    }

    /// Begins the file with these bytes, unless they are not of audio.
    /// - Returns: why they are refused.
    private mutating func takeFirst(
        _ bytes: ByteBuffer, of head: ResponseHead, total: Int64?, into partial: PartialFile
    ) async throws -> Failure? {
        if let refused = refusal(ofFirstBytes: bytes, of: head) { return refused }
        try await begin(head.validator, total: total, offset: 0, in: partial)
        try await append(bytes, total: total, to: partial)
        return nil
    }

    /// Takes the whole file, whatever part of it was asked for.
    private mutating func takeWhole(
        _ body: DecodedBody, of head: ResponseHead, total: Int64?, into partial: PartialFile
    ) async throws -> AttemptResult.Ending? {
        let ending = try await take(body, of: head, total: total, behind: 0, overlap: 0, upTo: nil, into: partial)
        if let ending { return ending }
        return try await verified(partial, total: total)
    }

    /// Takes a whole body that comes compressed. Its bytes vouch for themselves: what the server declares of the whole, it
    /// declares of the coded bytes.
    private mutating func takeDecoded(
        _ answer: HTTPResponse, _ coding: ContentCoding, of head: ResponseHead, into partial: PartialFile
    ) async throws -> AttemptResult.Ending? {
        // The bytes of audio are not coded, whatever the label says: no format of audio begins as gzip or zlib do.
        let body = await DecodedBody(answer, promisedSize: wanted.promised.size, byFirst: AudioSignature.wanted) {
            AudioSignature.isKnownAudio($0) ? .identity : coding
        }
        if body.coding == .identity {
            return try await takeWhole(body, of: head, total: head.contentLength, into: partial)
        }
        if case .unknown(let name) = coding {
            return .fail(
                failure("the server sends the audio compressed (\(name)) although plain bytes were asked for"))
        }
        serverDigest = nil
        var decoded = head
        decoded.validator = ContentValidator()
        do {
            let ending = try await take(
                body, of: decoded, total: nil, behind: 0, overlap: 0, upTo: nil, into: partial)
            if let ending { return ending }
            return try await verified(partial, total: body.coding.isDecodable ? partial.length : nil)
        } catch let failure as TransportError where failure.disposition == .skip {
            // What grew without measure is not left lying on the disk.
            try await discard(partial)
            throw failure
        }
    }

    private func refusal(ofFirstBytes bytes: ByteBuffer, of head: ResponseHead) -> Failure? {
        var first = bytes.readableBytesView.prefix(AudioSignature.wanted)
        var found: Message?
        if !first.isEmpty, first.allSatisfy({ $0 == 0 }) {
            first = bytes.readableBytesView.drop { $0 == 0 }.prefix(AudioSignature.wanted)
            if first.isEmpty { found = "nothing but zeros" }
        }
        found = found ?? AudioSignature.foreignContent(in: first)
        // A text may be in any encoding.
        if let type = head.contentType, isTypeOfPages(type), !AudioSignature.isKnownAudio(Array(first)) {
            found = found ?? Message(verbatim: "'\(type)'")
        }
        return found.map { found in
            let refusal = Rejection.page(found)
            return failure(refusal.why, remedy: refusal.remedy)
        }
    }

    /// Whether more bytes are needed to tell zeros before the audio from a file of nothing else.
    private func mayBePadding(_ bytes: ByteBuffer) -> Bool {
        bytes.readableBytes < 64 << 10 && bytes.readableBytesView.allSatisfy { $0 == 0 }
    }

    /// Commits whose bytes are about to be written, and makes room for them.
    mutating func begin(
        _ validator: ContentValidator, total: Int64?, offset: Int64, in partial: PartialFile
    ) async throws {
        let isFresh = offset == 0 && result.record.isFresh
        if offset == 0 {
            result.record.committedLength = 0
            if partial.length > 0 || partial.isInParts && pieces?.keepsParts != true { try await discard(partial) }
            result.record.validator = validator
        }
        if let total, total > result.record.total ?? wanted.episode.size ?? 0 { try requireRoom(for: total - offset) }
        result.record.total = total
        result.record.state = .downloading
        result.record.bootID = BootIdentity.current
        let hasNote = partial.setNote(of: result.record)
        // What another answer left must not vouch for the bytes of this one.
        if !hasNote, offset == 0 { partial.removeNote() }
        if !(isFresh && hasNote && (total ?? .max) <= tools.settings.maxLengthWithoutJournal) {
            try await aside { try tools.journal.commit([result.record]) }
        }
        meter.begin(at: offset + (pieces?.bytesAhead ?? 0), reused: result.bytesReused, total: total)
        hasBegun = true
        if pieces?.letHelpersIn() == true { partial.isInParts = true }
    }

    /// First the journal forgets the bytes, then they go: never another validator over them.
    mutating func discard(_ partial: PartialFile) async throws {
        result.record.committedLength = 0
        result.record.validator = .init()
        result.record.total = nil
        try await aside {
            try tools.journal.commit([result.record])
            try partial.truncate(to: 0)
            // What the file said of those bytes must not come back over the next ones.
            try partial.sync()
        }
    }

    private mutating func append(_ part: ByteBuffer, total: Int64?, to partial: PartialFile) async throws {
        var part = part
        let length = partial.length
        let count = Int64(part.readableBytes)
        try await watchGrowth(by: count, to: length + count, total: total, of: partial)
        if let bodyEnd, length + count > bodyEnd {
            part = part.getSlice(at: part.readerIndex, length: Int(max(0, bodyEnd - length))) ?? ByteBuffer()
        }
        try partial.append(part)
        result.progress += Int64(part.readableBytes)
        sinceCommit += Int64(part.readableBytes)
        if let pieces { pieces.moveFront(to: partial.length) } else { meter.move(to: partial.length) }
        let rest = (total ?? .max) - length
        if sinceCommit >= EngineSettings.commitInterval, rest > EngineSettings.commitInterval / 2 {
            try await commitOffset(of: partial)
        }
    }

    /// What the server declares may be more than the catalog did when the transfer was begun.
    private func requireRoom(for rest: Int64) throws {
        guard let missing = try tools.watch.missingRoom(for: rest) else { return }
        throw wanted.failure(
            "the server says that \(describeBytes(rest)) are to come, and \(describeBytes(missing)) of room are missing",
            remedy: "make room and run again", kind: .inputOutput)
    }

    /// Looks from time to time whether what comes still has its measure, and the disk its room.
    private mutating func watchGrowth(
        by count: Int64, to length: Int64, total: Int64?, of partial: PartialFile
    ) async throws {
        let limit = tools.settings.maxLength(ofUndeclared: wanted.episode)
        if total == nil, length > limit {
            // The limit of the settings may be raised for the next run.
            let isOfSettings = limit >= tools.settings.maxUndeclaredSize
            result.isForGood = !isOfSettings
            try await discard(partial)
            throw failure(
                "the server declares no length, and sent more than \(describeBytes(length - count))",
                remedy: isOfSettings ? "if the file is that large, raise downloads.max-undeclared-size" : nil)
        }
        sinceLook += count
        guard sinceLook >= EngineSettings.lookInterval else { return }
        sinceLook = 0
        // What has no declared end would else take all that there is.
        guard let missing = try tools.watch.missingRoom(for: 0, reserve: total == nil ? 64 << 20 : 0) else { return }
        guard total == nil else {
            throw tools.watch.lackOfRoom("\(describeBytes(missing)) are missing")
        }
        try await discard(partial)
        throw wanted.failure(
            "the server declares no length, and the disk has no room for more", remedy: "make room and run again",
            kind: .inputOutput)
    }

    /// Syncs the partial file, then commits its length: the part that a power cut leaves whole.
    mutating func commitOffset(of partial: PartialFile) async throws {
        sinceCommit = 0
        var record = result.record
        record.committedLength = record.total.map { min(partial.length, $0) } ?? partial.length
        try await aside { [record] in
            // Only bytes that are on the disk are noted; where no note is kept, the journal has it alone.
            let shared = partial.isInParts ? pieces : nil
            try shared?.sync() ?? partial.sync()
            try tools.journal.commit([record])
            if shared == nil { _ = partial.setNote(of: record) }
        }
        result.record = record
    }

    mutating func verified(_ partial: PartialFile, total: Int64?) async throws -> AttemptResult.Ending {
        // All is there: nobody writes ahead any more.
        await endHelp(isOfUse: false)
        try partial.endParts()
        let size = partial.length
        var verification: LocalFile.Verification =
            total != nil || wanted.episode.size == size ? .length : .unverified
        if let declared = wanted.episode.digest {
            let promised = try partial.compare(with: declared)
            guard promised.fits else {
                return .restart(
                    "its \(declared.algorithm.rawValue) is \(promised.found), the catalog says \(declared.hexadecimal)")
            }
            verification = .digest
        }
        if let declared = serverDigest {
            let comparison = try await aside { try partial.compare(with: declared) }
            guard comparison.fits else {
                // What the server declared is not kept: the next run would find a whole file and nothing against it.
                try await discard(partial)
                return .restart(
                    "its \(declared.algorithm.rawValue) is \(comparison.found), the server says \(declared.hexadecimal)"
                )
            }
            verification = .digest
        }
        // With a checksum, a declared length or the catalog's own nobody has to guess.
        if verification == .unverified, size != endedEarly, result.isNotClosed || size < wanted.episode.size ?? 0 {
            return .endedEarly(size)
        }
        if verification == .unverified, let why = await tools.objection(partialPath, wanted.episode) {
            result.spoiled = partial.sha256Digest()
            return .restart(why)
        }
        if verification != .digest, size > 0, wanted.episode.isStub(size) {
            result.spoiled = partial.sha256Digest()
            try await discard(partial)
            let claims = [wanted.episode.size.map(describeBytes), wanted.episode.duration.map(describeSeconds)]
            let claim = claims.compactMap(\.self).joined(separator: ", ")
            var reason = AttemptResult.RetryReason(
                why: "the server sent \(describeBytes(size)) of audio in place of the episode (\(claim))")
            reason.server = result.respondingServer
            return .stub(reason)
        }
        return .received(
            ReceivedFile(
                wanted: wanted, validator: result.record.validator, path: partialPath, note: partial.note,
                descriptor: partial.handOver(), size: size, sha256: partial.sha256Digest(),
                verification: verification))
    }

    func failure(_ why: Message, remedy: Message? = nil) -> Failure {
        wanted.failure(why, remedy: remedy)
    }
}
