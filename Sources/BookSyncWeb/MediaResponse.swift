import Hummingbird
import NIOCore
import Transport

/// Answers GET and HEAD for one representation, with conditions and ranges as ``MediaDecision`` decides.
/// - Parameters:
///   - now: Seconds since 1970.
///   - body: Gives the bytes of a range; asked only when some are to be sent.
func mediaResponse(
    to request: Request, for media: MediaRepresentation, now: Int64, body: (Range<Int64>) -> ResponseBody
) -> Response {
    let conditions = MediaConditions(
        ifMatch: request.headers[.ifMatch], ifUnmodifiedSince: request.headers[.ifUnmodifiedSince],
        ifNoneMatch: request.headers[.ifNoneMatch], ifModifiedSince: request.headers[.ifModifiedSince],
        ifRange: request.headers[.ifRange], range: request.headers[.range], isHead: request.method == .head)
    var headers = HTTPFields()
    headers[.acceptRanges] = "bytes"
    headers[.eTag] = media.entityTag
    headers[.lastModified] = HTTPDate.text(media.lastModified)
    switch MediaDecision.decide(conditions, for: media, now: now) {
    case .whole:
        headers[.contentType] = media.contentType
        headers[.contentLength] = String(media.length)
        let sendsBody = request.method != .head && media.length > 0
        return Response(status: .ok, headers: headers, body: sendsBody ? body(0..<media.length) : ResponseBody())
    case .part(let bytes):
        headers[.contentType] = media.contentType
        headers[.contentLength] = String(bytes.count)
        headers[.contentRange] = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(media.length)"
        return Response(status: .partialContent, headers: headers, body: body(bytes))
    case .notModified:
        var response = Response(status: .notModified, headers: headers)
        // Of a 304 it would be the length of the 200 that was not sent (RFC 9110 §8.6).
        response.headers[.contentLength] = nil
        return response
    case .preconditionFailed:
        return Response(status: .preconditionFailed, headers: headers)
    case .unsatisfiable:
        headers[.contentRange] = "bytes */\(media.length)"
        return Response(status: .rangeNotSatisfiable, headers: headers)
    }
}

extension ResponseBody {
    /// Gives the bytes away at a pace, in small pieces, so that little is in flight when the client dies.
    /// - Parameter bytesPerSecond: nil for as fast as the client takes them.
    init(_ bytes: ByteBuffer, bytesPerSecond: Int?) {
        guard let bytesPerSecond, bytesPerSecond > 0 else {
            self.init(byteBuffer: bytes)
            return
        }
        self.init(contentLength: bytes.readableBytes) { writer in
            var rest = bytes
            var sent = 0
            let start = ContinuousClock.now
            while let piece = rest.readSlice(length: min(4096, rest.readableBytes)), piece.readableBytes > 0 {
                try await writer.write(piece)
                sent += piece.readableBytes
                try await Task.sleep(until: start + .seconds(Double(sent) / Double(bytesPerSecond)))
            }
            try await writer.finish(nil)
        }
    }
}
