import BookModel
import BookSync
import Hummingbird
import NIOCore

extension ShelfResponder {
    /// What a POST asks for, which may be asked: at `/api/v1/NAME` in JSON, at `/actions/NAME` in a form.
    /// - Parameter form: what came, where it is a form.
    /// - Returns: nil when there is no such action.
    /// - Throws: ``Failure``.
    func acted(_ request: ShelfRequest, _ form: FormFields?, from caller: Caller) async throws -> Response? {
        let agent = request.wire.headers[.userAgent].flatMap(DeviceName.name)
        let actions = ShelfActions(shelf: site.shelf.seen(by: caller.user), device: agent)
        guard let form else { return request.parts.count == 3 ? try await answered(request, by: actions) : nil }
        return try await formHandled(request, form, from: caller, by: actions)
    }

    private func answered(_ request: ShelfRequest, by actions: ShelfActions) async throws -> Response? {
        guard let action = ShelfAction(rawValue: request.parts[2]) else { return nil }
        do {
            let document = try await actions.perform(action, ActionArguments(json: request.body))
            let text = document.text(isIndented: true) + "\n"
            return Response(
                status: .ok, headers: [.contentType: jsonType],
                body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
        } catch let refused as ShelfActions.Refused {
            return refusal(.forbidden, refused.sentence)
        } catch let failure as Failure {
            guard let status = failure.statusOfAction else { throw failure }
            return refusal(status, failure.description, kind: failure.kind.word)
        }
    }

    /// Does what a form asks for, and sends its browser back to the page that it stands on; where others are only asked for
    /// something, that page comes at once, with what they said.
    private func formHandled(
        _ request: ShelfRequest, _ form: FormFields, from caller: Caller, by actions: ShelfActions
    ) async throws -> Response? {
        guard request.parts.count == 2 else { return nil }
        if let inquiry = ShelfPages.Inquiry(request.parts[1], form) {
            return try await page(for: request, from: caller, asking: inquiry)
        }
        guard let action = ShelfAction(rawValue: request.parts[1]) else { return nil }
        do {
            _ = try await actions.perform(action, ActionArguments(form: form))
            return .seeOther(caller.view.wayBack(form["return"]))
        } catch let refused as ShelfActions.Refused {
            let failure = Failure(.usage, what: "nothing is changed", why: refused.sentence)
            return try await self.refused(failure, .forbidden, request.wire, request.parts, caller)
        } catch let failure as Failure {
            guard let status = failure.statusOfAction else { throw failure }
            return try await refused(failure, status, request.wire, request.parts, caller)
        }
    }
}

extension Failure {
    /// What it means to a client that asked for something to be done; nil when it is the server's own trouble.
    var statusOfAction: HTTPResponse.Status? {
        switch kind {
        case .usage: .badRequest
        case .unknownBook: .notFound
        // What the configuration says stands in the way.
        case .configuration: .conflict
        // What was named is no catalog, or does not answer.
        case .unreadableCatalog, .catalogUnavailable, .credentialsRejected: .unprocessableContent
        case .temporary: .serviceUnavailable
        case .libraryUnwritable, .inputOutput, .defect: nil
        }
    }
}
