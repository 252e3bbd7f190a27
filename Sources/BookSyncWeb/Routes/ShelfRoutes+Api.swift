import BookModel
import BookSync
import Hummingbird
import Settings

extension ShelfRoutes {
    private typealias Reading = @Sendable (ServedShelf, ShelfContext, [String: String]) async throws -> JSONDocument?
    private typealias BookReading =
        @Sendable (ServedShelf, BookIdentity, ShelfContext, [String: String]) async throws -> JSONDocument?

    /// What programs ask for: the documents that the command line prints with `--json`, word for word.
    ///
    /// A query has the options of the command, by their names; one that has no such value is a ``Failure`` of kind `usage`.
    func addApi(to root: Group) {
        let api = root.group("api/v1")
        let (documents, library) = (group(api, for: .document), group(api, for: .libraryDocument))
        documents.reads("openapi.json") { request, context in
            let text = EmbeddedFile.text("openapi.json")
                .replacing("\"url\": \"/api/v1\"", with: "\"url\": \"\(context.caller.view.root)/api/v1\"")
            return await .document(Array(text.utf8), type: jsonType, for: request)
        }
        addBooks(to: documents)
        read("search", of: documents) { shelf, _, query in
            let text = query["q"] ?? ""
            let limit = try query.number("limit", from: 0) ?? 50
            let wanted = limit == 0 ? nil : limit
            let found = try await shelf.search(for: text, limit: wanted)
            _ = try found.complete()
            return .array(try found.best(for: text, limit: wanted).items.map { JSONDocument($0) })
        }
        read("queue", of: library) { shelf, _, _ in
            .array(try await shelf.wholeList { try await $0.queue() }.map { JSONDocument($0) })
        }
        read("subscriptions", of: library) { shelf, _, _ in
            let all = try shelf.configuration.allSubscriptions(with: try await shelf.subscriptions())
            return .array(try await all.withAddresses(in: shelf.configuration.libraries).map { JSONDocument($0) })
        }
        read("runs", of: library) { shelf, _, query in
            let (runs, unanswered) = try await shelf.runs(last: try query.number("last", from: 1) ?? 20)
            if let (_, failure) = unanswered.first { throw failure }
            return .array(runs.map { JSONDocument($0) })
        }
        library.reads("events") { request, _ in await liveAnswer(to: request) }
    }

    private func addBooks(to documents: Group) {
        read("books", of: documents) { shelf, _, query in
            let state = try query.choice("state", EpisodeState.allCases)
            let sort = try query.choice("sort", ShelfOrder.ofBooks)
            var books = try await shelf.wholeList { shelf -> [BookSummary] in
                if let state { try await shelf.books(withEpisodesIn: state) } else { try await shelf.books() }
            }
            if shelf.hasSeveralLibraries { books.sort { $0.book.identity < $1.book.identity } }
            if try query.has("missing") { books = books.filter { $0.missing > 0 } }
            if let sort { books = books.sorted(by: sort) }
            if try query.has("reverse") { books.reverse() }
            return .array(books.map { JSONDocument($0) })
        }
        readBook("books/{source}/{book}", of: documents) { shelf, book, _, _ in
            let found = try await shelf.read { try await $0.books([book]) } ?? []
            return shelf.named(found).first.map { JSONDocument(everythingOf: $0) }
        }
        readBook("books/{source}/{book}/episodes", of: documents) { shelf, book, _, query in
            let state = try query.choice("state", EpisodeState.allCases)
            let sort = try query.choice("sort", ShelfOrder.ofEpisodes)
            var episodes = shelf.named(
                try await shelf.read { try await $0.episodes(of: book, filter: EpisodeFilter()) } ?? [])
            if let state { episodes = episodes.filter { $0.shelved.state == state } }
            if try query.has("missing") { episodes = episodes.filter(\.isMissing) }
            if let sort { episodes = episodes.sorted(by: sort) }
            if try query.has("reverse") { episodes.reverse() }
            return .array(episodes.map { JSONDocument($0) })
        }
        // A number; several episodes may have it.
        readBook("books/{source}/{book}/episodes/{section}", of: documents) { shelf, book, context, _ in
            let section = context["section"]
            guard section.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            let filter = EpisodeFilter(only: try SectionRanges(parsing: section))
            let found = try await shelf.read { try await $0.episodesInFull(of: book, filter: filter) } ?? []
            let episodes = shelf.named(found).map { JSONDocument(everythingOf: $0) }
            return episodes.count > 1 ? .array(episodes) : episodes.first
        }
        read("positions/{source}/{book}/{episode}", of: documents) { shelf, context, _ in
            let name = (source: context["source"], book: context["book"], episode: context["episode"])
            return try await shelf.position(in: name).map { JSONDocument($0) }
        }
        readBook("bookmarks/{source}/{book}", of: documents) { shelf, book, _, _ in
            let found = try await shelf.read { try await $0.bookmarkedEpisodes(of: book) } ?? []
            return .array(found.map { JSONDocument($0.bookmark) })
        }
    }

    private func read(_ path: RouterPath, of group: Group, _ reading: @escaping Reading) {
        group.reads(path) { request, context in
            guard let document = try await reading(try await shelf(of: context), context, request.parameters) else {
                return nil
            }
            return await .document(document, for: request)
        }
    }

    /// The same, for the book that the path names.
    private func readBook(_ path: RouterPath, of group: Group, _ reading: @escaping BookReading) {
        read(path, of: group) { shelf, context, query in
            guard let book = try await shelf.book(context["book"], of: context["source"]) else { return nil }
            return try await reading(shelf, book, context, query)
        }
    }
}

extension [String: String] {
    /// Whether a flag is set: `?missing`, `?missing=1`.
    fileprivate func has(_ flag: String) throws -> Bool {
        switch self[flag] {
        case nil, "0", "false": return false
        case "", "1", "true": return true
        default: throw refusal(flag, "it is one of true, false, 1, 0")
        }
    }

    private static let maxNumber = Int(Int32.max)

    fileprivate func choice<Choice: RawRepresentable<String>>(_ key: String, _ choices: [Choice]) throws -> Choice? {
        guard let text = self[key] else { return nil }
        if let choice = choices.first(where: { $0.rawValue == text }) { return choice }
        throw refusal(key, "it is one of \(choices.map(\.rawValue).joined(separator: ", "))")
    }

    fileprivate func number(_ key: String, from least: Int) throws -> Int? {
        guard let text = self[key] else { return nil }
        if let number = Int(text), (least...Self.maxNumber).contains(number) { return number }
        throw refusal(key, "it takes a number from \(least) to \(Self.maxNumber)")
    }

    private func refusal(_ key: String, _ why: Message) -> Failure {
        Failure(.usage, what: "the value of '\(key)' is not valid", why: why)
    }
}
