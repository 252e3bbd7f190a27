import BookModel
import BookSync
import Crypto
import Foundation
import Hummingbird
import NIOCore

let jsonType = "application/json; charset=utf-8"

extension ShelfResponder {
    // MARK: Documents

    /// A document as the command line prints it.
    func document(_ document: JSONDocument, for request: Request) async -> Response {
        await self.document(Array((document.text(isIndented: true) + "\n").utf8), type: jsonType, for: request)
    }

    /// A document that is made anew for each request, with a tag by which a client knows whether it has it already.
    func document(_ bytes: [UInt8], type: String, for request: Request) async -> Response {
        var bytes = bytes
        let isGzip = await compress(&bytes, type, for: request)
        let tag = "\"\(SHA256.hash(data: bytes).prefix(16).hexadecimal)\""
        let conditions = MediaConditions(
            ifMatch: request.headers[.ifMatch], ifNoneMatch: request.headers[.ifNoneMatch],
            isHead: request.method == .head)
        let whole = MediaRepresentation(
            length: Int64(bytes.count), entityTag: tag, lastModified: 0, contentType: type)
        switch MediaDecision.decide(conditions, for: whole, now: 0) {
        case .notModified:
            var response = Response(status: .notModified, headers: [.eTag: tag])
            response.headers[.contentLength] = nil
            return response
        case .preconditionFailed: return Response(status: .preconditionFailed, headers: [.eTag: tag])
        case .whole, .part, .unsatisfiable:
            var fields: HTTPFields = [.eTag: tag, .contentType: type, .vary: "Accept-Encoding"]
            if isGzip { fields[.contentEncoding] = "gzip" }
            return Response(
                status: .ok, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        }
    }

    /// Makes a text smaller for those who take it so. A page that shows what its address brought is left as it is: its length
    /// would tell a reader of the line what else stands in it (BREACH).
    private func compress(_ bytes: inout [UInt8], _ type: String, for request: Request) async -> Bool {
        let isText = ["text/", "application/json", "application/rss", "image/svg"].contains { type.hasPrefix($0) }
        let isReflecting = type.hasPrefix("text/html") && (request.head.path ?? "").contains("?")
        guard isText, !isReflecting, bytes.count >= Gzip.minSize,
            Gzip.isAccepted(request.headers[values: .acceptEncoding]), let smaller = await Gzip.compressed(bytes)
        else { return false }
        bytes = smaller
        return true
    }

    // MARK: Audio

    /// The file, or what is asked of it.
    func answer(_ file: OpenedFile, to request: Request) -> Response {
        let media = MediaRepresentation(
            length: file.size, entityTag: file.entityTag, lastModified: file.modificationTime / 1_000_000_000,
            contentType: file.mediaType)
        let now = Int64(Date.now.timeIntervalSince1970)
        var response = mediaResponse(to: request, for: media, now: now) { range in
            FileBody(file: file, range: range, lane: fastLane).response
        }
        if let digest = file.sha256.flatMap(base64), response.status == .ok || response.status == .partialContent {
            // RFC 9530 §3: of the whole, whatever part this is.
            response.set("Repr-Digest", to: "sha-256=:\(digest):")
        }
        return response
    }

    private func base64(ofHexadecimal text: String) -> String? {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 64, text.utf8.count == 64 else { return nil }
        let bytes = stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        return Data(bytes).base64EncodedString()
    }
}

extension Response {
    /// The answer to HEAD: what would be sent is told, and not sent.
    var withoutBody: Response {
        var response = Response(status: status, headers: headers)
        // Of a 304 there is no length to tell.
        response.headers[.contentLength] = headers[.contentLength]
        return response
    }

    /// With the fields that keep browsers from making more of an answer than it is.
    /// - Parameters:
    ///   - cutting: whether the connection ends with the answer.
    ///   - eventLoop: of the connection.
    func guarded(cutting: Bool, on eventLoop: any EventLoop) -> Response {
        var response = self
        // A page says itself what it may load; all else may nothing.
        if response.headers[.contentSecurityPolicy] == nil {
            response.headers[.contentSecurityPolicy] =
                "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        }
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.crossOriginResourcePolicy] = "same-origin"
        response.set("Cross-Origin-Opener-Policy", to: "same-origin")
        response.set("Referrer-Policy", to: "no-referrer")
        // To be kept only if it is asked each time whether it is still so.
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-cache" }
        let body = body.steady(on: eventLoop)
        response.body = body
        guard cutting else { return response }
        response.headers[.connection] = "close"
        response.body = ResponseBody(contentLength: body.contentLength) { writer in
            try await body.write(writer)
            // Hummingbird would read whatever the client goes on to send; an error ends the connection.
            throw CancellationError()
        }
        return response
    }

    /// Sets a field that Hummingbird has no name for.
    fileprivate mutating func set(_ name: String, to value: String) {
        if let name = HTTPFields.Element.Name(name) { headers[name] = value }
    }
}
