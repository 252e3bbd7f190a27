import BookModel
import BookSync
import ShelfQueries
import ShelfService

extension ShelfPages {
    private struct TableView: ViewModel {
        var caption: String
        var hasBooks = true
        var rows: [EpisodeView]
    }

    private struct SearchView: ViewModel {
        var heading: String
        var sum: String
        var hasBooks: Bool
        var books: [BookCard]
        var hasRows: Bool
        var table: TableView
    }

    private static let hits = 60

    /// Books and episodes that a text is found in.
    func searchPage(_ request: Request) async throws -> Page {
        let phrases = phrases(for: request)
        let text = request.searched
        var found: ShelfReader.Found?
        if !text.isEmpty {
            do {
                found = try await shelf(for: request).search(for: text, limit: Self.hits)
            } catch let failure as Failure where failure.kind == .usage {
                // There is nothing in it to search for, a comma perhaps: it is being written.
            }
        }
        let heard = try await heard(in: found, on: shelf(for: request))
        let maker = maker(for: request, isRunUnderWay: heard.isRunUnderWay)
        var (books, rows): ([BookCard], [EpisodeView]) = ([], [])
        for item in found?.items ?? [] {
            switch item {
            case .book(let book): books.append(maker.card(book))
            case .episode(let episode, let book):
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
                phrases(found?.hasMore == true ? .countMoreFound : .countFound, count: count)
            }
        let heading = text.isEmpty ? phrases(.searchHeading) : phrases(.searchFor, ["text": text])
        let view = SearchView(
            heading: heading, sum: sum, hasBooks: !books.isEmpty, books: books, hasRows: !rows.isEmpty,
            table: TableView(caption: heading, rows: rows))
        return try page(.searchHeading, named: heading, view, with: "search", for: request)
    }

    /// Where the user stopped in the books of the episodes that were found.
    private func heard(
        in found: ShelfReader.Found?, on shelf: ServedShelf
    ) async throws -> (positions: [EpisodeIdentity: ListeningPosition], isRunUnderWay: Bool) {
        let books = Set(
            (found?.items ?? []).compactMap { item -> BookIdentity? in
                guard case .episode(_, let book) = item else { return nil }
                return book.identity
            })
        guard !books.isEmpty else { return ([:], false) }
        let heard = try await shelf.read { shelf in
            var positions: [EpisodeIdentity: ListeningPosition] = [:]
            for book in books { positions.merge(try await shelf.positions(of: book)) { $1 } }
            return (positions, shelf.isRunUnderWay)
        }
        return heard ?? ([:], false)
    }
}
