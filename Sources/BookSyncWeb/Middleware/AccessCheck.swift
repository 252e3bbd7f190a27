import BookModel
import BookSync
import Hummingbird

/// Lets those through who may have what a group of routes is for; see ``AccessDecision``.
struct AccessCheck: ShelfMiddleware {
    let site: ServerContext
    let asked: Route

    func handle(_ request: Request, context: ShelfContext, next: Next) async throws -> Response {
        var context = context
        context.asked = asked
        // A form's token is looked at when there is a form.
        context.caller.proof.hasFormToken = true
        if let refused = site.refusal(of: request, context) { return refused }
        var response = try await next(request, context)
        // Players and podcast apps that are pages of other sites come with the key, and without a login.
        if asked == .appsDocument { response.headers[.crossOriginResourcePolicy] = "cross-origin" }
        return response
    }
}

extension ServerContext {
    /// - Returns: nil where the request is to be answered.
    func refusal(of request: Request, _ context: ShelfContext) -> Response? {
        let (caller, asked) = (context.caller, context.asked)
        switch AccessDecision.decide(asked, caller.proof, asksWhoComes: access.asksWhoComes) {
        case .allow: return nil
        case .logIn:
            let target = request.method == .post ? "" : request.head.path ?? ""
            return .seeOther(caller.view.loginPath(for: target, basePath: basePath))
        case .unproven:
            var response = Response.refusal(
                .unauthorized, "this needs a login, or the token of serve.token", kind: "unproven",
                to: request)
            response.headers[.wwwAuthenticate] = "Bearer realm=\"booksync\""
            return response
        case .refuse: return .refusal(.forbidden, "this was not sent by a page of this server", to: request)
        case .nothing: return .refusal(.notFound, Failure.nothing.why, to: request)
        case .limited where asked == .libraryPage: return .seeOther(caller.view.root + "/")
        case .limited: return .refusal(.forbidden, "this user listens, and changes nothing else", to: request)
        }
    }
}
