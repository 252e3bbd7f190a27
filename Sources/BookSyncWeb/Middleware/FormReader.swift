import BookModel
import Hummingbird

/// Reads the form that a POST brings, and lets it through when it carries the token that our pages give to this browser.
struct FormReader: ShelfMiddleware {
    let site: ServerContext

    func handle(_ request: Request, context: ShelfContext, next: Next) async throws -> Response {
        guard let form = FormFields(context.body) else {
            return .refusal(.badRequest, "the form cannot be read", to: request)
        }
        var context = context
        context.form = form
        let caller = context.caller
        let token = await site.access.formToken(for: request, seenAs: caller.view, visit: caller.visit)
        context.caller.proof.hasFormToken = Session.isSame(form["token"] ?? "", token)
        if let refused = site.refusal(of: request, context) {
            if refused.status == .forbidden { throw Failure.foreignForm }
            return refused
        }
        return try await next(request, context)
    }
}
