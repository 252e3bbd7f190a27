import BookModel
import BookSync
import Hummingbird

/// Lets through what has the shape of a request for something here: a path below the base path of parts that something can be
/// called by, with the method by which such a thing is asked for.
///
/// The path is never decoded and never leads to a file: its parts are looked up by name in the store.
struct PathCheck: ShelfMiddleware {
    let site: ServerContext

    /// Bytes of a path with its query.
    private static let maxTarget = 4096

    func handle(_ request: Request, context: ShelfContext, next: Next) async throws -> Response {
        let target = request.head.path ?? ""
        guard target.utf8.count <= Self.maxTarget else {
            return .refusal(.uriTooLong, "the address is too long", to: request)
        }
        guard target.hasPrefix("/") else {
            return .refusal(.badRequest, "the path must begin with a slash", to: request)
        }
        let parts = Self.parts(of: target, below: site.basePath)
        let methods = parts.map(Self.methods) ?? [.get, .head]
        guard methods.contains(request.method) else {
            let names = methods.map(\.rawValue)
            var response = Response.refusal(
                .methodNotAllowed, "only \(names.joined(separator: " and ")) is answered here", to: request)
            response.headers[.allow] = names.joined(separator: ", ")
            return response
        }
        guard request.method == .post || !request.hasBody else {
            return .refusal(.contentTooLarge, "a request must have no body", to: request)
        }
        let path = target.prefix { $0 != "?" }
        if !site.basePath.isEmpty, path == site.basePath {
            // It was typed without the slash at its end.
            return .seeOther(context.caller.view.root + "/" + target.dropFirst(path.count))
        }
        guard let parts, parts == [""] || parts.last?.isEmpty == false else {
            return try await site.answer(.nothing, to: request, context)
        }
        var context = context
        context.parts = parts
        return try await next(request, context)
    }

    /// The methods by which what is at a path is asked for.
    /// - Parameter parts: of the path, behind the base path.
    private static func methods(at parts: [String]) -> [HTTPRequest.Method] {
        switch parts.count {
        case 2 where parts[0] == "actions": [.post]
        case 3 where parts[0] == "api" && parts[1] == "v1" && ShelfAction(rawValue: parts[2]) != nil: [.post]
        default: [.get, .head]
        }
    }

    /// Reads the parts of a path.
    /// - Returns: nil when the path is not below the base path, or has a part that nothing is called by.
    private static func parts(of target: String, below basePath: String) -> [String]? {
        let path = target.prefix { $0 != "?" && $0 != "#" }
        guard path.utf8.starts(with: (basePath + "/").utf8) else { return nil }
        let parts = path.utf8.dropFirst(basePath.utf8.count + 1)
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Array($0) }
        let isLastEmpty = parts.last?.isEmpty == true
        guard parts.dropLast(isLastEmpty ? 1 : 0).allSatisfy(canBeName) else { return nil }
        return parts.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func canBeName(_ part: [UInt8]) -> Bool {
        guard let first = part.first, first != UInt8(ascii: ".") else { return false }
        return part.allSatisfy(\.isUnreserved)
    }
}

extension Request {
    /// Whether a browser shows the answer to somebody.
    var acceptsPages: Bool { headers[.accept]?.contains("text/html") == true }

    /// The parameters of the address, decoded as forms write them; of several by one name the last. None where they are not
    /// written so.
    var parameters: [String: String] {
        let query = (head.path ?? "").split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst()
        let fields = query.first.flatMap { FormFields(Array($0.prefix { $0 != "#" }.utf8)) }?.fields ?? []
        return Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
    }
}
