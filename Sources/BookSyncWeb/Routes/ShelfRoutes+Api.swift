import BookModel
import BookSync
import Hummingbird

extension ShelfRoutes {
    private typealias Reading = @Sendable (APIController, ShelfContext, [String: String]) async throws -> JSONDocument?

    /// What programs ask for; see ``APIController``.
    func addApi(to root: Group) {
        let api = root.group("api/v1")
        let (documents, library) = (group(api, for: .document), group(api, for: .libraryDocument))
        documents.reads("openapi.json") { request, context in
            let text = EmbeddedFile.text("openapi.json")
                .replacing("\"url\": \"/api/v1\"", with: "\"url\": \"\(context.caller.view.root)/api/v1\"")
            return await .document(Array(text.utf8), type: jsonType, for: request)
        }
        read("books", of: documents) { api, _, query in try await api.books(query) }
        read("books/{source}/{book}", of: documents) { api, context, _ in
            guard let book = try await book(of: context) else { return nil }
            return try await api.book(book)
        }
        read("books/{source}/{book}/episodes", of: documents) { api, context, query in
            guard let book = try await book(of: context) else { return nil }
            return try await api.episodes(of: book, query)
        }
        read("books/{source}/{book}/episodes/{section}", of: documents) { api, context, _ in
            guard let book = try await book(of: context) else { return nil }
            return try await api.episodes(context["section"], of: book)
        }
        read("positions/{source}/{book}/{episode}", of: documents) { api, context, _ in
            let name = (source: context["source"], book: context["book"], episode: context["episode"])
            return try await api.shelf.position(in: name).map { JSONDocument($0) }
        }
        read("bookmarks/{source}/{book}", of: documents) { api, context, _ in
            guard let book = try await book(of: context) else { return nil }
            return try await api.bookmarks(of: book)
        }
        read("search", of: documents) { api, _, query in try await api.search(query) }
        read("queue", of: library) { api, _, _ in try await api.queue() }
        read("subscriptions", of: library) { api, _, _ in try await api.subscriptions() }
        read("runs", of: library) { api, _, query in try await api.runs(query) }
        library.reads("events") { request, _ in await liveAnswer(to: request) }
    }

    private func read(_ path: RouterPath, of group: Group, _ reading: @escaping Reading) {
        group.reads(path) { request, context in
            let api = APIController(shelf: try await shelf(of: context))
            guard let document = try await reading(api, context, request.parameters) else { return nil }
            return await .document(document, for: request)
        }
    }

    /// The book that the path names.
    private func book(of context: ShelfContext) async throws -> BookIdentity? {
        try await shelf(of: context).book(context["book"], of: context["source"])
    }
}
