import BookModel
import BookSync
import CatalogFetcher
import Settings

extension ShelfPages {
    private struct ResultsView: ViewModel {
        var status = ""
        var isUnderWay = false
        var unanswered: [ErrorView] = []
        var books: [any Sendable] = []
    }

    /// Books that catalogs have: what a search finds that was begun, else the form alone, filled in.
    func discoverPage(_ request: Request, _ desk: RunQueue) async throws -> Page {
        var (sources, results) = ([String](), ResultsView())
        try await showSearch(request, desk) { results = $0 }
        do {
            sources = try await desk.searches.sources()
        } catch let failure as Failure {
            results.unanswered.insert(ErrorView(failure, phrases(for: request)), at: 0)
        }
        let view = (
            text: request.searched, wantedLanguage: request.query["language"] ?? "",
            choices: sources.map { ChoiceView(href: "", label: $0, isCurrent: $0 == request.query["source"]) },
            results: results
        )
        return try page(.discover, view, with: "discover", for: request, section: .discover)
    }

    /// What that page shows of a search that was begun.
    /// - Parameter show: is given it whenever a catalog has answered.
    func discoveries(_ request: Request, _ desk: RunQueue, show: (String) async throws -> Void) async throws {
        try await showSearch(request, desk) { try await show(part($0, with: "found", for: request)) }
    }

    /// Has catalogs be searched. What is wrong with the request is for the page to say.
    func beginSearch(_ request: Request, _ desk: RunQueue) async {
        guard case .success(let query?) = Result(catching: { try Self.query(of: request) }) else { return }
        await desk.searches.begin(query, in: request.chosen("source"), for: request.visitor.user.id)
    }

    /// - Returns: nil where nothing is searched for.
    private static func query(of request: Request) throws -> CatalogQuery? {
        guard !request.searched.isEmpty else { return nil }
        let wanted = request.chosen("language")
        let language = wanted.flatMap(CatalogText.languageAlone)
        if let wanted, language == nil {
            throw Failure(
                .usage, what: "the catalogs cannot be searched",
                why: "'\(CatalogText.quotation(wanted, length: 40))' is not a language",
                remedy: "write zh or Chinese, for example")
        }
        return CatalogQuery(text: request.searched, language: language, limit: 200)
    }

    private func showSearch(
        _ request: Request, _ desk: RunQueue, show: (ResultsView) async throws -> Void
    ) async throws {
        let phrases = phrases(for: request)
        do {
            guard let query = try Self.query(of: request),
                let updates = await desk.searches.updates(
                    of: query, in: request.chosen("source"), for: request.visitor.user.id)
            else { return }
            let stored = try await request.shelf.subscriptions()
            let followed = Set(try wholeShelf.configuration.allSubscriptions(with: stored).map(\.book))
            for try await progress in updates {
                let count = progress.books.count
                let status =
                    if !progress.awaited.isEmpty {
                        phrases(.askingSources, count: count)
                            .replacing("{sources}", with: progress.awaited.joined(separator: ", "))
                    } else {
                        count == 0 ? phrases(.nothingFound) : phrases(.countFound, count: count)
                    }
                try await show(
                    ResultsView(
                        status: status, isUnderWay: !progress.awaited.isEmpty,
                        unanswered: progress.unanswered.map { ErrorView($0, phrases) },
                        books: progress.books.map { view($0, followed, maker(for: request)) }))
            }
        } catch let failure as Failure {
            try await show(ResultsView(unanswered: [ErrorView(failure, phrases)]))
        }
    }

    private func view(_ book: FoundBook, _ followed: Set<BookIdentity>, _ maker: ViewMaker) -> any Sendable {
        let (entry, phrases) = (book.entry, maker.phrases)
        // As a user would type it: what a catalog has published is no secret.
        let reference = entry.address?.secretText ?? entry.reference
        var (actions, done): ([ActionView], [String]) = ([], [])
        func offer(_ label: String, _ reference: String, isDone: Bool, kind: String = "") {
            guard !isDone else { return done.append(phrases(.actionOf, ["action": label, "name": phrases(.added)])) }
            actions.append(
                ActionView(
                    action: maker.routes.action("subscribe"), field: "ref", value: reference, label: label,
                    spoken: phrases(.actionOf, ["action": label, "name": entry.title]), of: entry.title, kind: kind))
        }
        let isFollowed = book.places.contains { followed.contains($0.entry.identity) }
        offer(phrases(.add), reference, isDone: isFollowed, kind: "primary")
        if let list = wholeShelf.configuration.authorList(of: book) {
            let label = phrases(.allByAuthor, ["name": list.author])
            offer(label, list.reference.description, isDone: followed.contains(list.reference))
        }
        let facts = [
            entry.language, entry.episodes.map { phrases(.countEpisodes, count: $0) }, entry.seconds.map(phrases.span),
            entry.size.map(phrases.bytes), phrases(.foundIn, ["sources": book.sources.joined(separator: ", ")]),
        ]
        return (
            // Names of the book in each source, by which a row is known again.
            ids: book.places.map { $0.entry.identity.pathReference }.joined(separator: " "),
            title: entry.title,
            people: maker.people(
                of: Book(identity: entry.identity, title: entry.title, author: entry.author, narrator: entry.narrator)),
            facts: facts.compactMap(\.self).joined(separator: " · "), reference: reference, actions: actions,
            // What of these was done before.
            done: done
        )
    }
}
