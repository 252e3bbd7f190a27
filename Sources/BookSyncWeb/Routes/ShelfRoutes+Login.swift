import BookModel
import BookSync
import Hummingbird
import Logging

extension ShelfRoutes {
    /// Logging in and out.
    func addLogin(to root: Group) {
        group(root, for: .login).reads("login") { request, context in
            let back = context.caller.view.returnURL(request.parameters["return"])
            // Who is in already, or need not log in, is not asked again.
            guard site.access.asksWhoComes, !context.caller.proof.hasSession else { return .seeOther(back) }
            return try await loginPage(for: request, context, back: back, .ok)
        }
        let forms = posts(to: root.group("actions"), for: .loginForm)
        forms.posts("login") { request, context in try await loggedIn(request, context) }
        forms.posts("logout") { request, context in
            let view = context.caller.view
            let cookie = await site.access.logOut(request, seenAs: view)
            return .seeOther(view.root + (site.access.asksWhoComes ? "/login" : "/"), cookies: [cookie])
        }
    }

    private func loggedIn(_ request: Request, _ context: ShelfContext) async throws -> Response {
        let (form, view, client) = (context.form, context.caller.view, context.caller.client)
        guard let password = form["password"] else {
            return .refusal(.badRequest, "there is no password in the form", to: request)
        }
        let back = view.returnURL(form["return"])
        guard site.access.asksWhoComes else { return .seeOther(back) }
        switch try await site.access.logIn(as: form["name"], with: password, request, seenAs: view, client: client) {
        case .right(let cookies): return .seeOther(back, cookies: cookies)
        case .wrong:
            site.logger.warning("a wrong password", metadata: ["client": "\(client ?? "socket")"])
            return try await loginPage(for: request, context, back: back, .forbidden)
        case .later(let seconds):
            // Whoever guesses shall not have a page drawn for each guess.
            var response =
                request.acceptsPages
                ? try await loginPage(for: request, context, back: back, .tooManyRequests)
                : .refusal(
                    .tooManyRequests, "too many passwords were tried: wait \(seconds) s", kind: "temporary", to: nil)
            response.headers[.retryAfter] = "\(seconds)"
            return response
        }
    }

    /// The form that asks for the password.
    /// - Parameters:
    ///   - back: where the visitor wanted to go.
    ///   - status: how the last try ended.
    private func loginPage(
        for request: Request, _ context: ShelfContext, back: String, _ status: HTTPResponse.Status
    ) async throws -> Response {
        guard let pages = site.pages else { return .refusal(status, "a password is asked for", to: request) }
        let asked = await site.pageRequest(request, context)
        return await .page(try pages.loginPage(asked, back: back, status: status.code), for: request)
    }
}
