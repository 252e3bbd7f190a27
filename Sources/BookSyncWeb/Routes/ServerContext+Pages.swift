import BookModel
import BookSync
import Hummingbird
import NIOCore

extension ServerContext {
    /// What went wrong: a page for people, a document for programs.
    func answer(_ failure: Failure, to request: Request, _ context: ShelfContext) async throws -> Response {
        let status = failure.status(of: context.asked)
        // Where things lie on the server is for those to know who can mend it.
        let showsCause = status.kind != .serverError || !context.caller.user.isLimited
        let failure =
            showsCause
            ? failure : Failure(failure.kind, what: "the shelf cannot be read now", why: "its owner can see the reason")
        guard let pages, context.asked.isForPeople, request.acceptsPages else {
            let reader = context.asked.isForPeople ? request : nil
            return failure == .nothing || failure == .readOnly
                ? .refusal(status, failure.why, to: reader)
                : .refusal(status, failure.message, kind: failure.kind.keyword, to: reader)
        }
        let asked = await pageRequest(request, context)
        return await .page(try pages.page(of: failure, status: status.code, for: asked), for: request)
    }

    /// - Parameters:
    ///   - path: of the page that is the answer, behind the root; nil for the one that was asked for.
    ///   - shelf: that the page is of, as the visitor sees it; nil for the first library's.
    func pageRequest(
        _ request: Request, _ context: ShelfContext, at path: String? = nil, on shelf: ServedShelf? = nil
    ) async -> ShelfPages.Request {
        let caller = context.caller
        let languages = request.headers[values: .acceptLanguage].joined(separator: ",")
        let visitor = Visitor(
            language: Language(acceptLanguage: languages),
            formToken: await access.formToken(for: request, seenAs: caller.view, visit: caller.visit),
            user: caller.user, mayChange: mayChange(caller.user), keepsPositions: self.shelf.desk != nil,
            isLoggedIn: caller.proof.hasSession, hasNames: access.hasUsers, hasOwner: access.hasOwner)
        let key = await access.appsKey(of: caller.user)
        let home = publicURL ?? (caller.view.origins.first ?? "") + caller.view.root
        let asked = path ?? String((request.head.path ?? "").dropFirst(basePath.count))
        return ShelfPages.Request(
            root: caller.view.root, address: caller.view.root + asked, query: request.parameters, visitor: visitor,
            shelf: shelf ?? self.shelf.seen(by: caller.user), apps: ShelfAddresses(root: home, apps: key))
    }
}

extension Response {
    /// A page as an answer, with a tag where it is a whole one.
    static func page(_ page: Page, for request: Request) async -> Response {
        var response =
            page.status == 200
            ? await document(page.bytes, type: page.mediaType, for: request)
            : Response(
                status: .init(code: page.status), headers: [.contentType: page.mediaType],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: page.bytes)))
        if page.isLasting { response.headers[.cacheControl] = "public, max-age=31536000, immutable" }
        if page.isPage {
            response.headers[.contentSecurityPolicy] = Page.contentSecurityPolicy
            response.headers[.vary] = "Accept-Language, Cookie, Accept-Encoding"
        }
        return response
    }
}
