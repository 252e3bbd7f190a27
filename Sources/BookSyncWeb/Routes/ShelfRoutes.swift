import BookModel
import BookSync
import Hummingbird

/// What is answered at which path, and who may have it.
struct ShelfRoutes: Sendable {
    typealias Handler = @Sendable (Request, ShelfContext) async throws -> Response?
    typealias Group = RouterGroup<ShelfContext>

    let site: ServerContext
    /// For the body of a request to come.
    let bodyTime: Duration
    let fastLane = Slots(count: 8)

    /// Bytes of the body of a POST, and of one that brings a list of feeds.
    private static let (maxBody, maxOutline) = (64 << 10, 2 << 20)

    func router() -> Router<ShelfContext> {
        let router = Router(context: ShelfContext.self)
        router.addMiddleware {
            AnswerGuard()
            HostCheck(rule: site.hosts)
            CallerLookup(site: site)
            PathCheck(site: site)
            UnknownPaths(site: site)
        }
        let root = router.group(RouterPath(site.basePath))
        addDocuments(to: root)
        addApi(to: root)
        addActions(to: root)
        addLogin(to: root)
        if let pages = site.pages { addPages(pages, to: root) }
        return router
    }

    /// What those may have who may have such a thing.
    func group(_ group: Group, for asked: Route) -> Group {
        group.group().add(middleware: AccessCheck(site: site, asked: asked))
            .add(middleware: FailureAnswers(site: site))
    }

    /// The same, where something is sent.
    func posts(to group: Group, for asked: Route, _ action: ShelfAction? = nil) -> Group {
        let limit = action == .follow ? Self.maxOutline : Self.maxBody
        let posts = self.group(group, for: asked).add(middleware: BodyReader(time: bodyTime, limit: limit))
        return asked.isForm ? posts.add(middleware: FormReader(site: site)) : posts
    }

    /// The shelf as the caller sees it: of the library that has the book of the path, where it names one.
    func shelf(of context: ShelfContext) async throws -> ServedShelf {
        let shelf = site.shelf.seen(by: context.caller.user)
        guard let source = context.parameters.get("source"), let book = context.parameters.get("book") else {
            return shelf
        }
        return try await shelf.having(book, of: source)
    }
}

extension RouterGroup<ShelfContext> {
    /// Answers GET and HEAD; where the handler finds nothing, that is told.
    func reads(_ path: RouterPath, _ handler: @escaping ShelfRoutes.Handler) {
        for method in [HTTPRequest.Method.get, .head] { on(path, method, handler) }
    }

    /// Answers POST.
    func posts(_ path: RouterPath, _ handler: @escaping ShelfRoutes.Handler) { on(path, .post, handler) }

    private func on(_ path: RouterPath, _ method: HTTPRequest.Method, _ handler: @escaping ShelfRoutes.Handler) {
        on(path, method: method) { request, context in
            guard let response = try await handler(request, context) else { throw Failure.nothing }
            return response
        }
    }
}
