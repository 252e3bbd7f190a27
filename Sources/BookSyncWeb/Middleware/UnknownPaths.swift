import BookModel
import Hummingbird

/// Answers where no route leads: those who may see what is there learn that there is nothing.
struct UnknownPaths: ShelfMiddleware {
    let site: ServerContext

    func handle(_ request: Request, context: ShelfContext, next: Next) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            let asked = Self.asked(at: context.parts, isPost: request.method == .post)
            return try await AccessCheck(site: site, asked: asked).handle(request, context: context) {
                try await site.answer(.nothing, to: $0, $1)
            }
        }
    }

    private static func asked(at parts: [String], isPost: Bool) -> Route {
        switch parts.first {
        case "apps": .appsDocument
        case "api", "feeds", "media", "catalog", "covers": .document
        // What is not known changes something, as far as anybody can tell.
        default: isPost ? .form : .page
        }
    }
}
