import BookModel
import BookSync
import Hummingbird
import NIOCore

extension ShelfResponder {
    /// - Returns: nil when there is no page at the address.
    func page(for request: ShelfRequest) async throws -> Response? {
        guard let pages = site.pages else { return nil }
        let asked = asked(request.wire, parts: request.parts, apps: request.addresses.root)
        return try await pages.page(for: asked).map { response($0, to: request.wire) }
    }

    /// What went wrong, as a page for people.
    /// - Returns: nil for those who ask for no page.
    func page(of failure: Failure, _ status: HTTPResponse.Status, for request: Request) throws -> Response? {
        let parts = ShelfRequest.parts(of: request.head.path ?? "", below: site.basePath) ?? []
        let isForPrograms = ["api", "feeds", "media", "catalog", "apps", "covers", "static"].contains(parts.first)
        guard let pages = site.pages, !isForPrograms, request.headers[.accept]?.contains("text/html") == true else {
            return nil
        }
        let page = try pages.page(of: failure, status: status.code, for: asked(request, parts: parts, apps: ""))
        return response(page, to: request)
    }

    private func asked(_ request: Request, parts: [String], apps: String) -> ShelfPages.Request {
        let visitor = Visitor(
            language: PageLanguage(acceptLanguage: request.headers[values: .acceptLanguage].joined(separator: ",")),
            formToken: "", mayChange: false, isLoggedIn: false)
        return ShelfPages.Request(
            root: site.basePath, parts: parts, address: request.head.path ?? "", query: request.parameters,
            visitor: visitor, apps: apps)
    }

    /// A page as an answer: what can be kept is answered with a tag.
    private func response(_ page: Page, to request: Request) -> Response {
        var response = document(page.bytes, type: page.mediaType, for: request)
        if response.status == .ok { response.status = .init(code: page.status) }
        if page.isPage {
            response.headers[.contentSecurityPolicy] = Page.contentSecurityPolicy
            response.headers[.vary] = "Accept-Language"
        }
        return response
    }
}
