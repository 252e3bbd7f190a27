import BookModel
import Hummingbird

/// Answers those only who call the server by a name that is its own; see ``HostRule``. Nobody else is told anything.
struct HostCheck: ShelfMiddleware {
    let rule: HostRule

    func handle(_ request: Request, context: ShelfContext, next: Next) async throws -> Response {
        // One is taken for the authority; a second one stays a field.
        let hasSecond = request.headers.contains { $0.name.canonicalName == "host" }
        guard let authority = request.head.authority, !hasSecond else {
            return .refusal(.badRequest, "the request must have one Host field", to: request)
        }
        guard rule.allows(authority) else {
            return .refusal(
                .misdirectedRequest, "this server does not go by that name; serve.hosts can name it", to: request)
        }
        return try await next(request, context)
    }
}
