import BookSync
import Foundation
import Hummingbird

/// Finds out who sends a request.
struct CallerLookup: ShelfMiddleware {
    let site: ServerContext

    func handle(_ request: Request, context: ShelfContext, next: Next) async throws -> Response {
        let authority = request.head.authority ?? ""
        let view = ClientView(
            authority: authority, basePath: site.basePath, publicURL: site.publicURL, isSecure: site.isSecure)
        // What is below the apps' key names what is below the key.
        let appsKey = context.parameters.get("appsKey")
        let (proof, user) = await site.access.proof(of: request, seenAs: view, appsKey: appsKey)
        let visit = site.access.visit(of: request, seenAs: view)
        var context = context
        context.caller = Caller(
            proof: proof, user: user, visit: visit.name, view: view, client: client(of: request, at: context.peer),
            addresses: ShelfAddresses(root: site.root(of: authority), apps: appsKey))
        var response = try await next(request, context)
        // What has forms is a page.
        if let cookie = visit.cookie, !proof.hasSession, response.headers[.contentType]?.hasPrefix("text/html") == true
        {
            response.headers.append(HTTPFields.Element(name: .setCookie, value: cookie))
        }
        return response
    }

    /// Who is behind the proxy that the public address is of. Anybody can write the field, so it counts only from a proxy on
    /// this machine, and of it what that proxy wrote, which is the last.
    private func client(of request: Request, at peer: String?) -> String? {
        guard site.publicURL != nil, peer.map(HostRule.isThisMachine) ?? true else { return peer }
        let forwardedFor = HTTPFields.Element.Name("X-Forwarded-For").flatMap { request.headers[values: $0].last }
        let last = forwardedFor?.split(separator: ",").last?.trimmingCharacters(in: .whitespaces)
        return last.flatMap { NumericAddress($0) == nil ? nil : $0 } ?? peer
    }
}
