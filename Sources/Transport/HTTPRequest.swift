import BookModel
import NIOCore
import NIOHTTP1

/// An HTTP request.
package struct HTTPRequest: Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case head = "HEAD"
        /// Sent once and not again by itself; redirects of it are not followed.
        case post = "POST"
    }

    package var method: Method
    package var address: ResourceAddress
    /// Sent to every hop of a redirect (`Range` among them).
    package var headers: HTTPHeaders
    /// Sent only to the origin of ``address``, and never to where a redirect leads from there.
    package var credentials: HTTPHeaders

    /// Of ``Method/post`` alone.
    package var body: [UInt8] = []

    /// Whether the answer is a document (a catalog, a cover), which has to be whole within the answer timeout. Audio takes
    /// as long as it takes, if it comes at the minimum rate.
    package var isForDocument = true

    package init(
        _ method: Method = .get, _ address: ResourceAddress, headers: HTTPHeaders = [:], credentials: HTTPHeaders = [:]
    ) {
        self.method = method
        self.address = address
        self.headers = headers
        self.credentials = credentials
    }
}

extension HTTPRequest {
    /// - Parameter token: for the address's own server, as `Authorization: Bearer` (RFC 6750 §2.1); nil for none.
    package static func post(json: String, to address: ResourceAddress, token: Secret? = nil) -> HTTPRequest {
        var request = HTTPRequest(.post, address, headers: ["Content-Type": "application/json"])
        request.body = Array(json.utf8)
        if let token { request.credentials.replaceOrAdd(name: "Authorization", value: "Bearer \(token.secretText)") }
        return request
    }

    /// Has the server send a body only if it is another one than before (RFC 9110 §13.1).
    package mutating func addConditions(of validator: ContentValidator) {
        if let tag = validator.entityTag { headers.add(name: "If-None-Match", value: tag) }
        if let date = validator.lastModified { headers.add(name: "If-Modified-Since", value: date) }
    }
}

/// The answer to a ``HTTPRequest`` after redirects; its body is still on the wire.
package struct HTTPResponse: Sendable {
    package var status: Int
    package var headers: HTTPHeaders
    /// Where the answer came from in the end.
    package var address: ResourceAddress
    /// The resource's new permanent address; nil without a permanent redirect.
    package var movedTo: ResourceAddress?
    package var body: HTTPResponseBody
}

extension HTTPResponse {
    /// The first value of a header field; nil when the field is missing or empty.
    package func first(_ name: String) -> String? {
        headers.first(name: name).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Which part of the resource the answer's body is; nil where it does not say.
    package var contentRange: ContentRange? { first("Content-Range").map(ContentRange.init(parsing:)) }

    /// How the body is coded, as the answer says.
    package var contentCoding: ContentCoding {
        ContentCoding(parsing: headers["Content-Encoding"].joined(separator: ","))
    }

    /// What the answer's `Retry-After` asks for; see ``RetryPolicy/requestedWait(retryAfter:date:now:)``.
    package func requestedWait(now: Double) -> Double? {
        RetryPolicy.requestedWait(retryAfter: first("Retry-After"), date: first("Date"), now: now)
    }

    /// The whole body of a document in memory.
    ///
    /// - Throws: ``TransportError`` of kind `oversized` when it is longer than `limit` bytes.
    package func collect(upTo limit: Int) async throws -> ByteBuffer {
        var whole = ByteBuffer()
        if let declared = first("Content-Length").flatMap({ Int($0) }) {
            guard declared <= limit else { throw TransportError(.oversized(limit: limit), address: address) }
            whole.reserveCapacity(declared)
        }
        for try await var part in await DecodedBody(ofDocument: self) {
            guard whole.readableBytes + part.bytes.readableBytes <= limit else {
                throw TransportError(.oversized(limit: limit), address: address)
            }
            whole.writeBuffer(&part.bytes)
        }
        return whole
    }
}
