import BookModel
import LibraryFiles
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

    /// Of ``HeldParts``.
    var version: String { HeldParts.version(of: validator, total: total) }
}

/// What one try to bring a piece came to.
enum PieceEnding: Sendable {
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

/// One try to bring one piece of a large file to its place, going on from what is there.
struct PieceFetch: Sendable {
    let source: PieceSource
    let download: SegmentedDownload
    let piece: Int
    let range: Range<Int64>
    /// Bytes that are there.
    let held: Int64
    let transport: HTTPTransport
    let limiter: [RateLimiter]
    let disk: SerialQueueExecutor

    func run() async -> PieceEnding {
        do {
            var offset = range.lowerBound + held
            while offset < range.upperBound {
                let begun = offset
                if let ending = try await ask(from: &offset) { return ending }
                // A server may send less than was asked for, but not nothing.
                guard offset > begun else { return .retry(.init(why: "the connection was cut")) }
            }
            try await withTaskExecutorPreference(disk) { try download.sync() }
            return .whole
        } catch {
            return Self.ending(error)
        }
    }

    /// - Returns: nil when everything that was asked for has come.
    private func ask(from offset: inout Int64) async throws -> PieceEnding? {
        let onDisk = PartialContent(length: offset, validator: source.validator, total: source.total)
        let asked = RangeRequest(first: offset, last: range.upperBound - 1, ifRange: source.validator.ifRange)
        let answer = try await transport.send(source.request.asking(for: asked))
        let head = ResponseHead(answer)
        let end: Int64
        switch decide(existing: onDisk, asked: asked, head: head) {
        case .append(_, let last, overlap: 0): end = last + 1
        case .append: return .contradicted("the server sent another part than the one asked for")
        case .restart(let why): return .contradicted(why)
        case .replace, .replaceDecoded: return .contradicted("the server sent the whole instead of a part")
        case .retry(let why): return .retry(.init(why: why, answer: answer))
        case .complete, .unchanged, .fail: return .refused
        }
        for try await var part in answer.body {
            let received = part.readableBytes
            let room = end - offset
            if received > room { part = part.getSlice(at: part.readerIndex, length: Int(max(0, room))) ?? .init() }
            try download.write(part, at: offset, of: piece)
            offset += Int64(part.readableBytes)
            try await limiter.pass(received)
        }
        return nil
    }

    private static func ending(_ error: any Error) -> PieceEnding {
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
