import BookModel
import BookSync
import CatalogStore
import Settings

extension ShelfPages {
    private static let hits = 60

    /// Books and episodes that a text is found in.
    func searchPage(_ request: Request) async throws -> Page {
        let phrases = phrases(for: request)
        let text = request.searched
        var (items, hasMore): ShelfReader.Found = ([], false)
        var unanswered: [(place: LibraryPlace, failure: Failure)] = []
        if !text.isEmpty {
            do {
                let found = try await request.shelf.search(for: text, limit: Self.hits)
                (items, hasMore) = try found.best(for: text, limit: Self.hits)
                unanswered = found.failures
            } catch let failure as Failure where failure.kind == .usage {
                // There is nothing in it to search for, a comma perhaps: it is being written.
            }
        }
        let heard = try await heard(in: items, on: request.shelf)
        var (books, rows): ([BookCard], [EpisodeView]) = ([], [])
        for item in items {
            switch item {
            case .book(let book): books.append(maker(for: request).card(book))
            case .episode(let episode, let book):
                let maker = maker(for: request, isRunUnderWay: heard.running.contains(episode.library))
                let position = heard.positions[episode.shelved.episode.identity]
                rows.append(maker.row(episode, of: book, position: position))
            }
        }
        let count = books.count + rows.count
        let sum =
            if text.isEmpty {
                phrases(.searchHint)
            } else if count == 0 {
                phrases(.nothingFound)
            } else {
                phrases(hasMore ? .countMoreFound : .countFound, count: count)
            }
        let heading = text.isEmpty ? phrases(.searchHeading) : phrases(.searchFor, ["text": text])
        let view = (
            heading: heading, sum: sum, books: books,
            table: rows.isEmpty ? nil : (caption: heading, hasBooks: true, rows: rows)
        )
        return try page(
            .searchHeading, named: heading, view, with: "search", for: request, unanswered: unanswered)
    }

    /// Where the user stopped in the books of the episodes that were found, and in which libraries a run is under way.
    private func heard(
        in items: [FoundItem], on shelf: ServedShelf
    ) async throws -> (positions: [EpisodeIdentity: ListeningPosition], running: Set<String?>) {
        let books = Set(
            items.compactMap { item -> BookIdentity? in
                guard case .episode(_, let book) = item else { return nil }
                return book.identity
            })
        guard !books.isEmpty else { return ([:], []) }
        let heard = try await shelf.answers { shelf in
            var positions: [EpisodeIdentity: ListeningPosition] = [:]
            for book in books { positions.merge(try await shelf.store.positions(of: book, for: shelf.user.id)) { $1 } }
            return (positions: positions, isRunUnderWay: shelf.isRunUnderWay)
        }.answers
        let running = heard.filter { $0.value?.isRunUnderWay == true }.map(\.place.name)
        return (
            heard.reduce(into: [:]) { $0.merge($1.value?.positions ?? [:]) { $1 } },
            shelf.hasSeveralLibraries ? Set(running) : running.isEmpty ? [] : [nil]
        )
    }
}
