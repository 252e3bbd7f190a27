import BookModel
import BookSync
import Hummingbird
import NIOCore

extension ShelfResponder {
    /// - Parameter inquiry: what others are asked for it; then its page is the one answered.
    /// - Returns: nil when there is no page at the address.
    func page(
        for request: ShelfRequest, from caller: Caller, asking inquiry: ShelfPages.Inquiry? = nil
    ) async throws -> Response? {
        guard let pages = site.pages else { return nil }
        var asked = await asked(request.wire, parts: request.parts, caller)
        if let inquiry {
            asked.inquiry = inquiry
            asked.parts = [inquiry.page]
            asked.address = "\(caller.view.root)/\(inquiry.page)"
        }
        guard let page = try await pages.page(for: asked) else { return nil }
        return await response(page, to: request.wire)
    }

    /// The form that asks for the password.
    /// - Parameters:
    ///   - back: where the visitor wanted to go.
    ///   - status: how the last try ended.
    func loginPage(
        for request: ShelfRequest, _ caller: Caller, back: String, _ status: HTTPResponse.Status
    ) async throws -> Response {
        guard let pages = site.pages else { return refusal(status, "a password is asked for") }
        let asked = await asked(request.wire, parts: request.parts, caller)
        return await response(try pages.loginPage(asked, back: back, status: status.code), to: request.wire)
    }

    /// What went wrong: a page for people, a document for programs.
    func refused(
        _ failure: Failure, _ status: HTTPResponse.Status, _ request: Request, _ parts: [String]?, _ caller: Caller
    ) async throws -> Response {
        let isForPeople = caller.asked.isForPeople || parts == nil
        guard let pages = site.pages, isForPeople, request.headers[.accept]?.contains("text/html") == true else {
            return status == .notFound && failure == .nothing
                ? nothing : refusal(status, failure.description, kind: failure.kind.word)
        }
        let asked = await asked(request, parts: parts ?? [], caller)
        return await response(try pages.page(of: failure, status: status.code, for: asked), to: request)
    }

    private func asked(_ request: Request, parts: [String], _ caller: Caller) async -> ShelfPages.Request {
        let languages = request.headers[values: .acceptLanguage].joined(separator: ",")
        let visitor = Visitor(
            language: PageLanguage(acceptLanguage: languages),
            formToken: await site.access.formToken(for: request, seenAs: caller.view),
            user: caller.user, mayChange: site.mayChange(caller.user), keepsPositions: site.shelf.desk != nil,
            isLoggedIn: caller.proof.hasSession, hasNames: site.access.hasUsers,
            hasOwner: site.access.hasOwner)
        let key = await site.access.appsKey(of: caller.user)
        let home = site.publicURL ?? (caller.view.origins.first ?? "") + caller.view.root
        let path = (request.head.path ?? "").dropFirst(site.basePath.count)
        return ShelfPages.Request(
            root: caller.view.root, parts: parts, address: caller.view.root + path, query: request.parameters,
            visitor: visitor, apps: "\(ShelfAddresses(root: home).root)/apps/\(key)",
            preview: { [actions = ShelfActions(shelf: site.shelf)] in try await actions.preview($0) })
    }

    /// A page as an answer, with a tag where it is a whole one.
    private func response(_ page: Page, to request: Request) async -> Response {
        var response = await document(page.bytes, type: page.mediaType, for: request)
        if page.status != 200 {
            response = Response(
                status: .init(code: page.status), headers: [.contentType: page.mediaType],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: page.bytes)))
        }
        if page.isLasting { response.headers[.cacheControl] = "public, max-age=31536000, immutable" }
        if page.isPage {
            response.headers[.contentSecurityPolicy] = Page.contentSecurityPolicy
            response.headers[.vary] = "Accept-Language, Cookie, Accept-Encoding"
        }
        return response
    }
}

extension Failure {
    /// Nobody knows of anything there.
    static let nothing = Failure(
        .unknownBook, what: "nothing can be shown", why: "there is nothing at this address")
}
