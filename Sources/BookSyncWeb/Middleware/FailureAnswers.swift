import BookModel
import Hummingbird
import Logging

/// Tells the client what went wrong: a page for people, a document for programs.
struct FailureAnswers: ShelfMiddleware {
    let site: ServerContext

    func handle(_ request: Request, context: ShelfContext, next: Next) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let failure as Failure {
            site.logger.log(
                level: failure.status(of: context.asked).kind == .serverError ? .error : .debug, "a request failed",
                metadata: ["error": "\(failure)"])
            return try await site.answer(failure, to: request, context)
        }
    }
}

extension Failure {
    /// There is nothing at an address.
    static let nothing = Failure(
        .unknownBook, what: "nothing can be shown", why: "there is nothing at this address")

    /// Nothing is done for anybody.
    static let readOnly = Failure(
        .usage, what: "nothing is changed", why: "this server changes nothing: it was started with --read-only")

    /// The form is none that our pages gave to this browser, or its login has ended.
    static let foreignForm = Failure(
        .usage, what: "nothing is changed", why: "this was not sent by a page of this server, or the page was too old",
        remedy: "open the page anew and try again")

    /// What it means to the client.
    func status(of asked: Route) -> HTTPResponse.Status {
        if self == .readOnly || self == .foreignForm { return .forbidden }
        return switch kind {
        case .unknownBook: .notFound
        case .usage: .badRequest
        case .temporary, .inputOutput, .libraryUnwritable: .serviceUnavailable
        // What the configuration says stands in the way.
        case .configuration where asked.changes: .conflict
        // What was named is no catalog, or does not answer.
        case .unreadableCatalog where asked.changes, .catalogUnavailable where asked.changes,
            .credentialsRejected where asked.changes:
            .unprocessableContent
        default: .internalServerError
        }
    }
}
