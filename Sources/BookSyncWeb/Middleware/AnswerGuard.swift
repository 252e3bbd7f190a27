import Hummingbird
import NIOCore

/// Keeps browsers from making more of an answer than it is, and ends the connection where more of the request would have to be
/// read than was asked for.
struct AnswerGuard: ShelfMiddleware {
    func handle(_ request: Request, context: ShelfContext, next: Next) async throws -> Response {
        let response = try await next(request, context)
        return (request.method == .head ? response.withoutBody : response).guarded(
            cutting: request.hasBody && !context.bodyState.isRead, on: context.eventLoop)
    }
}

extension Request {
    /// Whether more comes behind the fields.
    var hasBody: Bool {
        headers[.transferEncoding] != nil || headers[values: .contentLength].contains { $0 != "0" }
    }
}

extension Response {
    /// The answer to HEAD: what would be sent is told, and not sent.
    fileprivate var withoutBody: Response {
        var response = Response(status: status, headers: headers)
        // Of a 304 there is no length to tell.
        response.headers[.contentLength] = headers[.contentLength]
        return response
    }

    /// With the fields that keep browsers from making more of an answer than it is.
    /// - Parameters:
    ///   - cutting: whether the connection ends with the answer.
    ///   - eventLoop: of the connection.
    fileprivate func guarded(cutting: Bool, on eventLoop: any EventLoop) -> Response {
        var response = self
        // A page says itself what it may load; all else may nothing.
        if response.headers[.contentSecurityPolicy] == nil {
            response.headers[.contentSecurityPolicy] =
                "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        }
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.crossOriginResourcePolicy] = response.headers[.crossOriginResourcePolicy] ?? "same-origin"
        response.set("Cross-Origin-Opener-Policy", to: "same-origin")
        response.set("Referrer-Policy", to: "no-referrer")
        // To be kept only if it is asked each time whether it is still so.
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-cache" }
        let body = body.steady(on: eventLoop)
        response.body = body
        guard cutting else { return response }
        response.headers[.connection] = "close"
        response.body = ResponseBody(contentLength: body.contentLength) { writer in
            try await body.write(writer)
            // Hummingbird would read whatever the client goes on to send; an error ends the connection.
            throw CancellationError()
        }
        return response
    }
}
