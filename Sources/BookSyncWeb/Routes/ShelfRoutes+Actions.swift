import BookModel
import BookSync
import Hummingbird

extension ShelfRoutes {
    /// What can be done: by programs in JSON at `/api/v1/NAME`, by the forms of the pages at `/actions/NAME`, which lead back
    /// to the page that they stand on.
    func addActions(to root: Group) {
        for action in ShelfAction.allCases {
            let path = RouterPath(action.rawValue)
            let calls = posts(to: root.group("api/v1"), for: action.isOwn ? .ownCall : .call, action)
            calls.posts(path) { request, context in
                let actions = try await actions(of: request, context)
                return .outcome(try await actions.perform(action, ActionArguments(json: context.body)))
            }
            // Where there is more to say than that it is done, a page with it is the answer.
            guard action != .preview, action != .follow else { continue }
            let forms = posts(to: root.group("actions"), for: action.isOwn ? .ownForm : .form, action)
            forms.posts(path) { request, context in
                _ = try await actions(of: request, context).perform(action, ActionArguments(form: context.form))
                return .seeOther(context.caller.view.returnURL(context.form["return"]))
            }
        }
        posts(to: root, for: .form).posts("actions/rotate-apps") { request, context in
            _ = try await actions(of: request, context)
            try await site.access.rotateApps(of: context.caller.user)
            return .seeOther(context.caller.view.returnURL(context.form["return"]))
        }
    }

    /// - Throws: ``Failure/readOnly``.
    func actions(of request: Request, _ context: ShelfContext) async throws -> ShelfActions {
        let shelf = try await shelf(of: context)
        guard let desk = shelf.desk else { throw Failure.readOnly }
        return ShelfActions(shelf: shelf, desk: desk, device: request.headers[.userAgent].flatMap(DeviceName.name))
    }
}
