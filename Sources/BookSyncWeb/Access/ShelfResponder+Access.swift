import BookModel
import BookSync
import Foundation
import Hummingbird
import Logging
import NIOCore

/// A request with what is known of who sent it.
struct Caller: Sendable {
    let asked: AskedThing
    /// But for the form's token, which is not looked at before there is a body.
    var proof: RequestProof
    var user = User.owner
    let view: ClientView
    /// Numeric; as the proxy tells where one is set up. Nil at a Unix socket.
    let client: String?
}

extension ShelfResponder {
    // MARK: Who asks

    /// - Parameter parts: of the path; nil where nothing is called so.
    func caller(of request: Request, _ parts: [String]?, client: String?) async -> Caller {
        let authority = request.head.authority ?? ""
        let view = ClientView(
            authority: authority, basePath: site.basePath, publicURL: site.publicURL, isSecure: site.isSecure)
        let isPost = request.method != .get && request.method != .head
        let asked = parts.map { AskedThing(at: $0, isPost: isPost) } ?? .door
        guard site.hosts.allows(authority) else {
            return Caller(asked: asked, proof: RequestProof(namesUs: false), view: view, client: client)
        }
        let appsKey = parts.flatMap { $0.first == "apps" && $0.count > 1 ? $0[1] : nil }
        let (proof, user) = await site.access.proof(of: request, seenAs: view, appsKey: appsKey)
        return Caller(asked: asked, proof: proof, user: user, view: view, client: Self.client(client, request, site))
    }

    /// Who is behind the proxy that the public address is of. Anybody can write the field, so it counts only from a proxy on
    /// this machine, and of it what that proxy wrote, which is the last.
    private static func client(_ client: String?, _ request: Request, _ site: ShelfSite) -> String? {
        guard site.publicURL != nil, client.map(HostRule.isThisMachine) ?? true else { return client }
        let told = HTTPFields.Element.Name("X-Forwarded-For").flatMap { request.headers[values: $0].last }
        let last = told?.split(separator: ",").last?.trimmingCharacters(in: .whitespaces)
        return last.flatMap { NumericAddress($0) == nil ? nil : $0 } ?? client
    }

    /// - Parameter form: what came; nil while it is not known yet.
    /// - Returns: nil where the request is to be answered.
    func refusal(of caller: Caller, _ request: Request, form: FormFields?) async -> Response? {
        var proof = caller.proof
        if caller.asked.isForm {
            if let form {
                let token = form["token"] ?? ""
                let right = await site.access.formToken(for: request, seenAs: caller.view)
                proof.hasFormToken = Session.isSame(token, right)
            } else {
                proof.hasFormToken = true
            }
        }
        switch AccessDecision.decide(caller.asked, proof, asksWhoComes: site.access.asksWhoComes) {
        case .allow: return nil
        case .logIn:
            let target = request.method == .post ? "" : request.head.path ?? ""
            return Response.seeOther(caller.view.loginPath(for: target, basePath: site.basePath))
        case .unproven:
            var response = refusal(.unauthorized, "this needs a login, or the token of serve.token", kind: "unproven")
            response.headers[.wwwAuthenticate] = "Bearer realm=\"booksync\""
            return response
        case .refuse: return refusal(.forbidden, "this was not sent by a page of this server")
        case .misdirected:
            return refusal(.misdirectedRequest, "this server does not go by that name; serve.hosts can name it")
        case .nothing: return nothing
        case .limited where caller.asked == .libraryPage: return .seeOther(caller.view.root + "/")
        case .limited: return refusal(.forbidden, "this user listens to some books, and changes nothing else")
        }
    }

    /// The answer where there is nothing.
    var nothing: Response { refusal(.notFound, "there is nothing at this address") }

    // MARK: Logging in and out

    /// - Returns: nil when the request is about something else.
    func doorAnswer(to request: ShelfRequest, from caller: Caller, form: FormFields?) async throws -> Response? {
        let view = caller.view
        switch (request.parts, request.method) {
        case (["login"], .get), (["login"], .head):
            let back = view.wayBack(request.query["return"])
            // Who is in already, or need not log in, is not asked again.
            guard site.access.asksWhoComes, !caller.proof.hasSession else { return .seeOther(back) }
            return try await loginPage(for: request, caller, back: back, .ok)
        case (["actions", "login"], .post):
            guard let form, let password = form["password"] else {
                return refusal(.badRequest, "there is no password in the form")
            }
            let back = view.wayBack(form["return"])
            guard site.access.asksWhoComes else { return .seeOther(back) }
            switch try await site.access.logIn(
                as: form["name"], with: password, request.wire, seenAs: view, client: caller.client)
            {
            case .right(let cookies): return .seeOther(back, cookies: cookies)
            case .wrong:
                site.logger.warning("a wrong password", metadata: ["client": "\(caller.client ?? "socket")"])
                return try await loginPage(for: request, caller, back: back, .forbidden)
            case .later(let seconds):
                // Whoever guesses shall not have a page drawn for each guess.
                let isForPeople = request.wire.headers[.accept]?.contains("text/html") == true
                var response =
                    isForPeople
                    ? try await loginPage(for: request, caller, back: back, .tooManyRequests)
                    : refusal(.tooManyRequests, "too many passwords were tried: wait \(seconds) s", kind: "temporary")
                response.headers[.retryAfter] = "\(seconds)"
                return response
            }
        case (["actions", "logout"], .post):
            let cookie = await site.access.logOut(request.wire, seenAs: view)
            return .seeOther(view.root + (site.access.asksWhoComes ? "/login" : "/"), cookies: [cookie])
        case (["actions", "rotate-apps"], .post):
            guard site.shelf.desk != nil else { return refusal(.forbidden, ShelfActions.Refused().sentence) }
            try await site.access.keyring.rotateApps()
            return .seeOther(view.wayBack(form?["return"]))
        default: return nil
        }
    }
}

extension Response {
    /// To another page, which is asked for with GET.
    /// - Parameter path: of our own.
    static func seeOther(_ path: String, cookies: [String] = []) -> Response {
        var response = Response(status: .seeOther, headers: [.location: path])
        for cookie in cookies { response.headers.append(HTTPFields.Element(name: .setCookie, value: cookie)) }
        return response
    }
}
