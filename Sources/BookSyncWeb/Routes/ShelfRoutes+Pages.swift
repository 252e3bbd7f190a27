import BookModel
import BookSync
import Foundation
import Hummingbird
import NIOCore

extension ShelfRoutes {
    /// The pages for people, with what they are dressed with.
    func addPages(_ pages: ShelfPages, to root: Group) {
        let (own, library) = (group(root, for: .page), group(root, for: .libraryPage))
        page("", of: own) { request, _ in try await pages.shelfPage(request) }
        page("books/{source}/{book}", of: own) { request, context in
            try await pages.bookPage(request, id: context["book"], source: context["source"])
        }
        page("books/{source}/{book}/{episode}", of: own) { request, context in
            try await pages.episodePage(
                request, name: context["episode"], id: context["book"], source: context["source"])
        }
        page("search", of: own) { request, _ in try await pages.searchPage(request) }
        page("queue", of: library) { request, _ in try await pages.queuePage(request) }
        page("runs", of: library) { request, _ in try await pages.runsPage(request) }
        page("subscriptions", of: library) { request, _ in try await pages.subscriptionsPage(request) }
        page("discover", of: library) { request, _ in
            guard let desk = site.shelf.desk else { throw Failure.readOnly }
            return try await pages.discoverPage(request, desk)
        }
        page("doctor", of: library) { request, _ in try await pages.doctorPage(request) }

        // What costs others something comes with a form of ours only, and its page is the answer.
        let asking = posts(to: root.group("actions"), for: .form)
        asking.posts("preview") { request, context in
            guard site.shelf.desk != nil else { throw Failure.readOnly }
            let asked = await site.pageRequest(request, context, at: "/subscriptions")
            let reference = (context.form["ref"] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
            return await .page(try await pages.subscriptionsPage(asked, previewing: reference), for: request)
        }
        posts(to: root.group("actions"), for: .form, .follow).posts("import") { request, context in
            let (actions, form) = (try await actions(of: request, context), context.form)
            let outcome = await Swift.Result.of { try await actions.follow(ActionArguments(form: form)) }
            let asked = await site.pageRequest(request, context, at: "/subscriptions")
            return await .page(try await pages.subscriptionsPage(asked, imported: outcome), for: request)
        }
        asking.posts("discover") { request, context in
            guard let desk = site.shelf.desk else { throw Failure.readOnly }
            return try await discoveries(pages, desk, request, context)
        }
        asking.posts("join") { request, context in
            let reference = try BookReference(parsing: context.form["book"] ?? "")
            let shelf = try await shelf(of: context).having(reference)
            guard let desk = shelf.desk, desk.joins != nil else { throw Failure.readOnly }
            try await desk.join(try await shelf.book(reference, of: desk.configuration))
            return .seeOther(context.caller.view.returnURL(context.form["return"]))
        }
        asking.posts("doctor") { request, context in
            guard site.shelf.desk != nil else { throw Failure.readOnly }
            let asked = await site.pageRequest(request, context, at: "/doctor")
            return await .page(try await pages.doctorPage(asked, asksSources: true), for: request)
        }

        let files = group(root.group("static"), for: .login)
        page("{name}", of: files) { _, context in StaticFile.named(context["name"]) }
        // The name of a folder is a version of the program.
        page("{name}/{file}", of: files) { _, context in StaticFile.named(context["file"], of: context["name"]) }
    }

    /// Begins a search, and leads to the page with what is found, or answers with a line of JSON with that part of it whenever a
    /// catalog has answered.
    private func discoveries(
        _ pages: ShelfPages, _ desk: RunQueue, _ request: Request, _ context: ShelfContext
    ) async throws -> Response {
        var asked = await site.pageRequest(request, context)
        let fields = ["q", "language", "source"].map { (name: $0, value: context.form[$0] ?? "") }
        asked.query = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value) })
        asked.address =
            "\(asked.root)/discover?"
            + fields.map { "\($0.name)=\(ClientView.encoded($0.value))" }.joined(separator: "&")
        await pages.beginSearch(asked, desk)
        let lines = "application/x-ndjson"
        guard request.headers[.accept] == lines else { return .seeOther(asked.address) }
        return Response(
            status: .ok, headers: [.contentType: lines],
            body: ResponseBody { [asked] writer in
                try await pages.discoveries(asked, desk) { part in
                    let line = JSONDocument.string(part).text(isIndented: false) + "\n"
                    try await writer.write(ByteBuffer(string: line))
                }
                try await writer.finish(nil)
            })
    }

    private func page(
        _ path: RouterPath, of group: Group,
        _ page: @escaping @Sendable (ShelfPages.Request, ShelfContext) async throws -> Page?
    ) {
        group.reads(path) { request, context in
            let asked = await site.pageRequest(request, context, on: try await shelf(of: context))
            guard let page = try await page(asked, context) else { return nil }
            return await .page(page, for: request)
        }
    }
}
