import BookModel
import BookSync
import Foundation
import Hummingbird
import Logging

/// Answers the requests for the shelf: decides whether one may be answered at all, and finds what it asks for.
///
/// The path of a request is never decoded and never leads to a file: its parts are looked up by name in the store.
struct ShelfResponder: HTTPResponder {
    let shelf: ServedShelf
    let hosts: HostRule
    let basePath: String
    let publicURL: String?
    let answers: AnswersUnderWay
    let logger: Logger

    func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        guard let answer = answers.begin() else {
            return refusal(.serviceUnavailable, "the server is being shut down").guarded(cutting: true, holding: nil)
        }
        let response: Response
        if let refused = refusal(of: request) {
            response = refused
        } else {
            do {
                response = try await found(for: request) ?? refusal(.notFound, "there is nothing at this address")
            } catch let failure as Failure {
                logger.log(
                    level: failure.kind == .unknownBook || failure.kind == .usage ? .debug : .error,
                    "a request failed", metadata: ["error": "\(failure)"])
                response = refusal(failure.status, failure.description, kind: failure.kind.word)
            }
        }
        // What a client sends that asks for nothing would have to be read to its end.
        return (request.method == .head ? response.withoutBody : response)
            .guarded(cutting: request.hasBody, holding: answer)
    }

    // MARK: Refusals

    /// Bytes of a path with its query.
    private static let greatestTarget = 4096

    /// - Returns: nil when the request may be answered.
    private func refusal(of request: Request) -> Response? {
        guard let authority = request.head.authority, !request.hasSecondHost else {
            return refusal(.badRequest, "the request must have one Host field")
        }
        guard hosts.allows(authority) else {
            return refusal(.misdirectedRequest, "this server does not go by that name")
        }
        guard request.method == .get || request.method == .head else {
            var response = refusal(.methodNotAllowed, "only GET and HEAD are answered")
            response.headers[.allow] = "GET, HEAD"
            return response
        }
        guard !request.hasBody else { return refusal(.contentTooLarge, "a request must have no body") }
        let target = request.head.path ?? ""
        guard target.utf8.count <= Self.greatestTarget else { return refusal(.uriTooLong, "the address is too long") }
        guard target.hasPrefix("/") else { return refusal(.badRequest, "the path must begin with a slash") }
        return nil
    }

    private func refusal(_ status: HTTPResponse.Status, _ why: String, kind: String = "refused") -> Response {
        let document: JSONDocument = ["error": .string(why), "kind": .string(kind)]
        return Response(
            status: status, headers: [.contentType: jsonType],
            body: ResponseBody(byteBuffer: ByteBuffer(string: document.text(isIndented: true) + "\n")))
    }

    // MARK: What there is

    /// - Returns: nil when there is nothing at the address.
    private func found(for request: Request) async throws -> Response? {
        guard let parts = parts(of: request) else { return nil }
        let addresses = ShelfAddresses(root: publicURL ?? "http://\(request.head.authority ?? "")\(basePath)")
        switch (parts.first, parts.count) {
        case ("media", 4):
            let (episode, isNamed) = Self.withoutExtension(parts[3])
            guard isNamed else { return nil }
            return try await shelf.file(of: episode, in: parts[2], of: parts[1]).map { answer($0, to: request) }
        case ("feeds", 2) where parts[1] == "all.opml":
            return document(try await shelf.outline(at: addresses), type: "text/x-opml; charset=utf-8", for: request)
        case ("feeds", 3) where parts[2].hasSuffix(".xml"):
            let id = Self.withoutExtension(parts[2]).name
            return try await shelf.feed(of: id, of: parts[1], at: addresses)
                .map { document($0, type: "application/rss+xml; charset=utf-8", for: request) }
        case ("catalog", 3) where parts[2] == "ClientGetBookResource.action":
            return document(
                try await ServedCatalog(shelf, at: addresses).listing(request.query, of: parts[1]), for: request)
        case ("catalog", 3) where parts[2] == "ClientGetBookDetail.action":
            return document(
                try await ServedCatalog(shelf, at: addresses).detail(request.query, of: parts[1]), for: request)
        case ("api", 3...) where parts[1] == "v1":
            return try await ShelfInterface(shelf: shelf).answer(Array(parts[2...]), request.query)
                .map { document($0, for: request) }
        default: return nil
        }
    }

    /// - Returns: nil when the path is not below the base path, or has a part that nothing is called by.
    private func parts(of request: Request) -> [String]? {
        let path = (request.head.path ?? "").prefix { $0 != "?" && $0 != "#" }
        guard path.utf8.starts(with: (basePath + "/").utf8) else { return nil }
        let parts = path.utf8.dropFirst(basePath.utf8.count + 1)
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Array($0) }
        guard parts.allSatisfy(Self.canBeName) else { return nil }
        return parts.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func canBeName(_ part: [UInt8]) -> Bool {
        guard let first = part.first, first != UInt8(ascii: ".") else { return false }
        return part.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "-._~".utf8.contains(byte)
            }
        }
    }

    private static func withoutExtension(_ part: String) -> (name: String, hadOne: Bool) {
        guard let dot = part.lastIndex(of: "."), part.index(after: dot) != part.endIndex else { return (part, false) }
        return (String(part[..<dot]), true)
    }
}

extension Failure {
    fileprivate var status: HTTPResponse.Status {
        switch kind {
        case .unknownBook: .notFound
        case .usage: .badRequest
        case .temporary: .serviceUnavailable
        default: .internalServerError
        }
    }
}

extension Request {
    /// Whether more comes behind the fields.
    fileprivate var hasBody: Bool {
        headers[.transferEncoding] != nil || headers[values: .contentLength].contains { $0 != "0" }
    }

    /// Whether there is a Host field beside the one that was taken for the authority.
    fileprivate var hasSecondHost: Bool { headers.contains { $0.name.canonicalName == "host" } }

    /// The parameters of the address, decoded; of several by one name the last.
    fileprivate var query: [String: String] {
        Dictionary(
            uri.queryParameters.map { (String($0.key), String($0.value)) }, uniquingKeysWith: { _, last in last })
    }
}
