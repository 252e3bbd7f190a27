import BookModel
import BookSync
import Crypto
import Foundation
import Hummingbird
import NIOCore

let jsonType = "application/json; charset=utf-8"

extension Response {
    /// A document as the command line prints it.
    static func document(_ document: JSONDocument, for request: Request) async -> Response {
        await self.document(Array((document.text(isIndented: true) + "\n").utf8), type: jsonType, for: request)
    }

    /// The same, of what was just done.
    static func outcome(_ document: JSONDocument, _ status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: jsonType],
            body: ResponseBody(byteBuffer: ByteBuffer(string: document.text(isIndented: true) + "\n")))
    }

    /// Why nothing else is answered: for a browser a page in its language, else a document.
    /// - Parameter request: nil where a program must have asked.
    static func refusal(
        _ status: HTTPResponse.Status, _ why: Message, kind: String = "refused", to request: Request?
    ) -> Response {
        guard let request, request.acceptsPages else {
            return outcome(["error": .string(why.description), "kind": .string(kind)], status)
        }
        let wishes = request.headers[values: .acceptLanguage].joined(separator: ",")
        let language = Language(acceptLanguage: wishes)
        // Nothing of ours is loaded: who is refused may be refused that as well.
        let page = """
            <!DOCTYPE html>
            <html lang="\(language.tag)"><head><meta charset="utf-8"><title>booksync</title>
            <meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"></head>
            <body><h1>\(status.code)</h1><p>\(MarkupText.escaped(Wordings(language)(why)))</p></body></html>

            """
        return Response(
            status: status, headers: [.contentType: "text/html; charset=utf-8", .vary: "Accept, Accept-Language"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: page)))
    }

    /// To another page, which is asked for with GET.
    /// - Parameter path: of our own.
    static func seeOther(_ path: String, cookies: [String] = []) -> Response {
        var response = Response(status: .seeOther, headers: [.location: path])
        for cookie in cookies { response.headers.append(HTTPFields.Element(name: .setCookie, value: cookie)) }
        return response
    }

    /// A document that is made anew for each request, with a tag by which a client knows whether it has it already.
    static func document(_ bytes: [UInt8], type: String, for request: Request) async -> Response {
        var bytes = bytes
        let isGzip = await compress(&bytes, type, for: request)
        let tag = "\"\(SHA256.hash(data: bytes).prefix(16).hexadecimal)\""
        let whole = MediaRepresentation(length: Int64(bytes.count), entityTag: tag, contentType: type)
        switch MediaDecision.decide(request, for: whole, now: 0) {
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
    private static func compress(_ bytes: inout [UInt8], _ type: String, for request: Request) async -> Bool {
        let isText = ["text/", "application/json", "application/rss", "image/svg"].contains { type.hasPrefix($0) }
        let isReflecting = type.hasPrefix("text/html") && (request.head.path ?? "").contains("?")
        guard isText, !isReflecting, bytes.count >= Gzip.minSize,
            Gzip.isAccepted(request.headers[values: .acceptEncoding]), let smaller = await Gzip.compressed(bytes)
        else { return false }
        bytes = smaller
        return true
    }

    /// Sets a field that Hummingbird has no name for.
    mutating func set(_ name: String, to value: String) {
        if let name = HTTPFields.Element.Name(name) { headers[name] = value }
    }
}
