import BookModel
import BookSync
import Foundation
import Hummingbird
import Logging
import NIOCore

/// Answers the requests for the shelf: decides whether one may be answered at all, and finds what it asks for.
///
/// The path of a request is never decoded and never leads to a file: its parts are looked up by name in the store.
struct ShelfResponder: HTTPResponder {
    typealias Context = ShelfContext

    let site: ShelfSite
    /// For the body of a request to come.
    let bodyTime: Duration
    let fastLane = FileBody.FastLane(places: 8)

    func respond(to request: Request, context: ShelfContext) async throws -> Response {
        // What a client sends beyond what it was asked for would have to be read to its end.
        var leavesBody = request.hasBody
        let response: Response
        let parts = ShelfRequest.parts(of: request.head.path ?? "", below: site.basePath)
        let caller = await caller(of: request, parts, client: context.client)
        if let refused = refusal(of: request, parts) {
            response = refused
        } else if let redirect = redirectToRoot(of: request, caller) {
            response = redirect
        } else if let refused = await refusal(of: caller, request, form: nil) {
            response = refused
        } else {
            do {
                let isOutline = parts?.last == ShelfAction.follow.rawValue
                let body = try await self.body(
                    of: request, upTo: isOutline ? Self.greatestOutline : Self.greatestBody)
                leavesBody = false
                if let found = try await found(for: request, parts, body: body, caller) {
                    response = found
                } else {
                    response = try await refused(.nothing, .notFound, request, parts, caller)
                }
            } catch let failure as Failure {
                site.logger.log(
                    level: failure.kind == .unknownBook || failure.kind == .usage ? .debug : .error,
                    "a request failed", metadata: ["error": "\(failure)"])
                response = try await refused(failure, failure.status, request, parts, caller)
            }
        }
        return (request.method == .head ? response.withoutBody : response).guarded(
            cutting: leavesBody, on: context.eventLoop)
    }

    // MARK: Refusals

    /// Bytes of a path with its query, and of the body of a POST.
    private static let greatestTarget = 4096
    private static let greatestBody = 64 << 10
    /// Of a list of feeds.
    private static let greatestOutline = 2 << 20

    /// - Returns: nil when the request may be answered.
    private func refusal(of request: Request, _ parts: [String]?) -> Response? {
        guard let authority = request.head.authority, !request.hasSecondHost else {
            return refusal(.badRequest, "the request must have one Host field")
        }
        // What is below tells nothing to those who do not know the name of the server.
        guard site.hosts.allows(authority) else { return nil }
        let target = request.head.path ?? ""
        guard target.utf8.count <= Self.greatestTarget else { return refusal(.uriTooLong, "the address is too long") }
        guard target.hasPrefix("/") else { return refusal(.badRequest, "the path must begin with a slash") }
        let methods = parts.map(ShelfRequest.methods) ?? [.get, .head]
        guard methods.contains(request.method) else {
            let names = methods.map(\.rawValue)
            var response = refusal(.methodNotAllowed, "only \(names.joined(separator: " and ")) is answered here")
            response.headers[.allow] = names.joined(separator: ", ")
            return response
        }
        guard request.method == .post || !request.hasBody else {
            return refusal(.contentTooLarge, "a request must have no body")
        }
        return nil
    }

    /// Of a base path that was typed without the slash at its end.
    private func redirectToRoot(of request: Request, _ caller: Caller) -> Response? {
        let target = request.head.path ?? ""
        let path = target.prefix { $0 != "?" }
        guard !site.basePath.isEmpty, path == site.basePath else { return nil }
        return .seeOther(caller.view.root + "/" + target.dropFirst(path.count))
    }

    func refusal(_ status: HTTPResponse.Status, _ why: String, kind: String = "refused") -> Response {
        let document: JSONDocument = ["error": .string(why), "kind": .string(kind)]
        return Response(
            status: status, headers: [.contentType: jsonType],
            body: ResponseBody(byteBuffer: ByteBuffer(string: document.text(isIndented: true) + "\n")))
    }

    // MARK: What there is

    /// What a POST brings, within the limits of size and time.
    /// - Throws: ``Failure`` of kind `usage` when it goes beyond them.
    private func body(of request: Request, upTo limit: Int) async throws -> [UInt8] {
        guard request.method == .post else { return [] }
        @Sendable func refuse(_ why: String) -> Failure {
            Failure(.usage, what: "the request cannot be read", why: why)
        }
        let body = try await limited(to: bodyTime / .seconds(1)) {
            do {
                return Array(buffer: try await request.body.collect(upTo: limit))
            } catch is NIOTooManyBytesError {
                throw refuse("its body has more than \(limit) bytes")
            }
        }
        guard let body else { throw refuse("its body does not come") }
        return body
    }

    /// - Returns: nil when there is nothing at the address.
    private func found(
        for wire: Request, _ parts: [String]?, body: [UInt8], _ caller: Caller
    ) async throws -> Response? {
        guard var parts else { return nil }
        let root = site.root(of: wire.head.authority ?? "")
        var addresses = ShelfAddresses(root: root)
        if caller.asked == .appsDocument {
            // What is below the apps' key is the same, and names what is below the key.
            addresses = ShelfAddresses(root: root, apps: parts[1])
            parts.removeFirst(2)
            guard ["feeds", "media", "covers"].contains(parts.first) else { return nil }
        }
        let request = ShelfRequest(wire: wire, parts: parts, addresses: addresses, body: body, client: caller.client)
        guard request.method == .post else {
            if let answer = try await doorAnswer(to: request, from: caller, form: nil) { return answer }
            return try await document(for: request, from: caller)
        }
        let isForm = caller.asked.isForm
        let type = wire.headers[.contentType]?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        // Browsers send either of the other types of form from any page, and JSON only where they are allowed to.
        guard type == (isForm ? "application/x-www-form-urlencoded" : "application/json") || !isForm && body.isEmpty
        else {
            return refusal(.unsupportedMediaType, "this is asked for with \(isForm ? "a form" : "JSON")")
        }
        var form: FormFields?
        if isForm {
            form = FormFields(body)
            guard let form else { return refusal(.badRequest, "the form cannot be read") }
            if let refused = await refusal(of: caller, wire, form: form) { return refused }
        }
        if let answer = try await doorAnswer(to: request, from: caller, form: form) { return answer }
        return try await acted(request, form, from: caller)
    }

    /// What GET and HEAD ask for.
    private func document(for request: ShelfRequest, from caller: Caller) async throws -> Response? {
        let (parts, addresses, shelf) = (request.parts, request.addresses, site.shelf.seen(by: caller.user))
        switch (parts.first, parts.count) {
        case ("media", 4):
            let (episode, isNamed) = Self.withoutExtension(parts[3])
            guard isNamed else { return nil }
            return try await shelf.file(of: episode, in: parts[2], of: parts[1]).map { answer($0, to: request.wire) }
        case ("feeds", 2) where parts[1] == "all.opml":
            return await document(
                try await shelf.outline(at: addresses), type: "text/x-opml; charset=utf-8", for: request.wire)
        case ("feeds", 3) where parts[2].hasSuffix(".xml"):
            let id = Self.withoutExtension(parts[2]).name
            guard let feed = try await shelf.feed(of: id, of: parts[1], at: addresses) else { return nil }
            return await document(feed, type: "application/rss+xml; charset=utf-8", for: request.wire)
        case ("catalog", 3) where parts[2] == "ClientGetBookResource.action":
            return await document(
                try await ServedCatalog(shelf, at: addresses).listing(request.query, of: parts[1]), for: request.wire)
        case ("catalog", 3) where parts[2] == "ClientGetBookDetail.action":
            return await document(
                try await ServedCatalog(shelf, at: addresses).detail(request.query, of: parts[1]), for: request.wire)
        case ("api", 3) where parts[1] == "v1" && parts[2] == "events": return await liveAnswer(to: request)
        case ("api", 3) where parts[1] == "v1" && parts[2] == "openapi.json":
            return await document(PackageResources.openapi_json, type: jsonType, for: request.wire)
        case ("api", 3...) where parts[1] == "v1":
            let answer = try await ShelfInterface(shelf: shelf).answer(Array(parts[2...]), request.query)
            guard let answer else { return nil }
            return await document(answer, for: request.wire)
        case ("subscriptions.opml", 1):
            let outline = try await SubscriptionOutline(of: site.shelf.configuration)
            return await document(try outline.bytes(), type: "text/x-opml; charset=utf-8", for: request.wire)
        default: return try await page(for: request, from: caller)
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
}
