import BookModel
import BookSync
import Foundation
import Hummingbird
import NIOCore

/// Reads what a POST brings, within the limits of size and time.
struct BodyReader: ShelfMiddleware {
    /// For it to come.
    let time: Duration
    /// Bytes.
    let limit: Int

    /// - Throws: ``Failure`` of kind `usage` when it goes beyond the limits.
    func handle(_ request: Request, context: ShelfContext, next: Next) async throws -> Response {
        @Sendable func refuse(_ why: Message) -> Failure {
            Failure(.usage, what: "the request cannot be read", why: why)
        }
        let body = try await limited(to: time / .seconds(1)) {
            do {
                return Array(buffer: try await request.body.collect(upTo: limit))
            } catch is NIOTooManyBytesError {
                throw refuse("its body has more than \(limit) bytes")
            }
        }
        guard let body else { throw refuse("its body does not come") }
        context.bodyState.setRead()
        let isForm = context.asked.isForm
        let type = request.headers[.contentType]?.prefix { $0 != ";" }
            .trimmingCharacters(in: .whitespaces).lowercased()
        // Browsers send either of the other types of form from any page, and JSON only where they are allowed to.
        guard type == (isForm ? "application/x-www-form-urlencoded" : "application/json") || !isForm && body.isEmpty
        else {
            return .refusal(
                .unsupportedMediaType, isForm ? "this is asked for with a form" : "this is asked for with JSON",
                to: request)
        }
        var context = context
        context.body = body
        return try await next(request, context)
    }
}
