import BookModel
import NIOCore
import NIOHTTP1
import Transport

/// Which representation the pieces of a file are pieces of, and where it is had.
struct PieceSource: Sendable {
    /// Without `Range` and `If-Range`.
    var request: HTTPRequest
    /// One that `If-Range` can carry.
    var validator: ContentValidator
    var total: Int64
}

/// What one try to bring a piece came to. What was received is in the piece's file, whatever happened.
struct PieceResult: Sendable {
    enum Ending: Sendable {
        case whole
        /// Another try may succeed, after so many seconds where the server said so.
        case retry(AttemptResult.RetryReason)
        /// The server does not have the file any more that was begun, or does not do ranges as it should.
        case contradicted(Message)
        /// The server refuses; the transfer itself will hear why.
        case refused
        case failed(Failure)
        case stopped
    }

    var ending: Ending
    /// Bytes in the piece's file.
    var onDisk: Int64
}

/// One try to bring one piece of a large file into a file of its own, going on from what is there.
struct PieceFetch: Sendable {
    let source: PieceSource
    let files: PieceFiles
    let range: Range<Int64>
    let transport: HTTPTransport
    let limiter: TransferRates.Limiter
    let meter: TransferMeter
    let slot: TransferThreads.Slot

    func run() async -> PieceResult {
        do {
            let path = files.path(ofPieceAt: range.lowerBound)
            let file = try PartialFile(path, promised: nil, digests: false)
            let ending = await fetch(into: file)
            let onDisk = file.length
            file.close()
            return PieceResult(ending: ending, onDisk: onDisk)
        } catch {
            return PieceResult(ending: Self.ending(error), onDisk: 0)
        }
    }

    private func fetch(into file: PartialFile) async -> PieceResult.Ending {
        do {
            let length = Int64(range.count)
            while file.length < length {
                let begun = file.length
                if let ending = try await ask(from: range.lowerBound + begun, into: file) { return ending }
                // A server may send less than was asked for, but not nothing.
                guard file.length > begun else { return .retry(.init(why: "the connection was cut")) }
            }
            try await slot.aside {
                try file.sync()
                try files.markWhole(pieceAt: range.lowerBound)
            }
            return .whole
        } catch {
            return Self.ending(error)
        }
    }

    /// - Returns: nil when everything that was asked for has come.
    private func ask(from first: Int64, into file: PartialFile) async throws -> PieceResult.Ending? {
        let onDisk = PartialContent(length: first, validator: source.validator, total: source.total)
        let asked = RangeRequest(first: first, last: range.upperBound - 1, ifRange: source.validator.ifRange)
        let answer = try await transport.send(source.request.asking(for: asked))
        let head = ResponseHead(answer)
        let end: Int64
        switch decide(existing: onDisk, asked: asked, head: head) {
        case .append(_, let last, overlap: 0): end = last + 1 - range.lowerBound
        case .append: return .contradicted("the server sent another part than the one asked for")
        case .restart(let why): return .contradicted(why)
        case .replace, .replaceDecoded: return .contradicted("the server sent the whole instead of a part")
        case .retry(let why): return .retry(.init(why: why, answer: answer))
        case .complete, .unchanged, .fail: return .refused
        }
        for try await var part in answer.body {
            let received = part.readableBytes
            let room = end - file.length
            if received > room { part = part.getSlice(at: part.readerIndex, length: Int(max(0, room))) ?? .init() }
            try await slot.write { try file.append(part) }
            meter.grewPiece(by: Int64(part.readableBytes))
            try await limiter.pass(received)
        }
        return nil
    }

    private static func ending(_ error: any Error) -> PieceResult.Ending {
        switch error {
        case is CancellationError: .stopped
        case let failure as TransportError:
            failure.disposition == .retry ? .retry(.init(failure)) : .refused
        case let failure as Failure: .failed(failure)
        default: .failed(.of(error))
        }
    }
}

extension HTTPRequest {
    /// The same request for a part of the file.
    func asking(for asked: RangeRequest) -> HTTPRequest {
        guard let range = asked.range else { return self }
        var request = self
        request.headers.add(name: "Range", value: range)
        if let ifRange = asked.ifRange { request.headers.add(name: "If-Range", value: ifRange) }
        return request
    }
}
