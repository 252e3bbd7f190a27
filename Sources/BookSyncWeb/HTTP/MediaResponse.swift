import Hummingbird
import NIOCore
import Transport

/// Answers GET and HEAD for one representation, with conditions and ranges as ``MediaDecision`` decides.
/// - Parameters:
///   - now: Seconds since 1970.
///   - body: Gives the bytes of a range; asked only when some are to be sent.
package func mediaResponse(
    to request: Request, for media: MediaRepresentation, now: Int64, body: (Range<Int64>) -> ResponseBody
) -> Response {
    var headers = HTTPFields()
    headers[.acceptRanges] = "bytes"
    headers[.eTag] = media.entityTag
    headers[.lastModified] = media.lastModified.map(HTTPDate.text)
    switch MediaDecision.decide(request, for: media, now: now) {
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
