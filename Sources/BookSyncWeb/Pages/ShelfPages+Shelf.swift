import BookModel
import BookSync
import ShelfQueries
import ShelfService

extension ShelfPages {
    private struct ContinuingView: ViewModel {
        var page: String
        var bookPage: String
        var bookTitle: String
        var name: String
        var cover: String
        var heard: String?
        var player: PlayView?
        var actions: [ActionView]
    }

    private struct ListedView: ViewModel {
        var title: String
        var author: String
        var actions: [ActionView]
    }

    private struct ShelfView: ViewModel {
        /// Whether anything may be downloaded while the page is looked at.
        var isLive: Bool
        var hasContinuing: Bool
        var continuing: [ContinuingView]
        var sum: String
        var isSortable: Bool
        var sorts: [ChoiceView]
        var isEmpty: Bool
        var books: [BookCard]
        var pager: PagerView?
        var hasMore: Bool
        /// Books that followed authors have besides.
        var more: [ListedView]
    }

    /// Books on a page, and of those that are being listened to.
    private static let booksOnPage = 96
    private static let continued = 4
    /// Books that followed authors have besides, on the first page.
    private static let moreBooks = 6

    private static let sorts: [(order: ShelfOrder, label: Phrase)] = [
        (.updated, .sortNews), (.title, .sortTitle), (.author, .sortAuthor), (.missing, .sortMissing),
    ]

    /// All books, and what was listened to last.
    func shelfPage(_ request: Request) async throws -> Page {
        let (phrases, maker) = (phrases(for: request), maker(for: request))
        let found = try await shelf(for: request).read { shelf in
            (
                books: try await shelf.books(),
                continuing: request.query["page"] == nil ? try await Self.continuing(shelf, maker) : []
            )
        }
        let isFirst = request.query["page"] == nil && request.visitor.mayChange
        let more = isFirst ? try await wholeShelf.unshelvedBooks(count: Self.moreBooks) : []
        let order = Self.sorts.first { $0.order.rawValue == request.query["sort"] } ?? Self.sorts[0]
        let books = (found?.books ?? []).sorted(by: order.order)
        let part = PagePart(request.query["page"], of: books.count, size: Self.booksOnPage)
        func address(_ page: Int, _ order: ShelfOrder) -> String {
            let query = (order == .updated ? [] : ["sort=\(order.rawValue)"]) + (page == 1 ? [] : ["page=\(page)"])
            return request.routes.shelf + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
        }
        let shown = books.dropFirst(part.first).prefix(part.size)
        let (progress, moving) = try await self.state(of: shown.map(\.book.identity), for: request)
        let bytes = books.reduce(0) { $0 + $1.bytes }
        let sum = [
            phrases(.countBooks, count: books.count),
            phrases(.countEpisodes, count: books.reduce(0) { $0 + $1.present }), phrases.bytes(bytes),
        ]
        let continuing = found?.continuing ?? []
        let view = ShelfView(
            isLive: !request.visitor.user.isLimited, hasContinuing: !continuing.isEmpty, continuing: continuing,
            sum: books.isEmpty ? "" : sum.joined(separator: " · "), isSortable: books.count > 1,
            sorts: Self.sorts.map {
                ChoiceView(
                    href: address(1, $0.order), label: phrases($0.label), count: nil, isCurrent: $0.order == order.order
                )
            },
            isEmpty: books.isEmpty,
            books: shown.map { book in
                let identity = book.book.identity
                return maker.card(book, progress[identity], isMoving: moving.contains(identity))
            },
            pager: part.pager(phrases) { address($0, order.order) }, hasMore: !more.isEmpty,
            more: more.map { listed in
                let add = maker.button(
                    "subscribe", .add, field: "ref", value: listed.reference, of: listed.title)
                return ListedView(
                    title: listed.title, author: listed.author, actions: [add])
            })
        return try page(.shelf, view, with: "shelf", for: request, section: .shelf)
    }

    /// How far the visitor is in books, and of which something is being downloaded.
    private func state(
        of books: [BookIdentity], for request: Request
    ) async throws -> (progress: [BookIdentity: ListeningProgress], moving: Set<BookIdentity>) {
        let found = try await shelf(for: request).read { shelf in
            (
                try await shelf.listeningProgress(of: books),
                shelf.isRunUnderWay ? try await shelf.movingBooks() : []
            )
        }
        return found ?? ([:], [])
    }

    /// Of each book that was listened to lately, where to go on: in the middle of an episode, or with the next one.
    private static func continuing(_ shelf: ShelfReader, _ maker: ViewMaker) async throws -> [ContinuingView] {
        var views: [ContinuingView] = []
        for position in try await shelf.latestPositions(limit: continued * 2) where views.count < continued {
            guard let identity = try await shelf.continuation(of: position) else { continue }
            let isSame = identity == position.episode
            let known = isSame ? position : try await shelf.positions(of: identity.book)[identity]
            let speed = try await shelf.speed(of: identity.book)
            guard let (episode, book) = try await shelf.episode(identity), let file = episode.shelved.file else {
                continue
            }
            views.append(
                ContinuingView(
                    page: maker.routes.episode(identity), bookPage: maker.routes.book(identity.book),
                    bookTitle: book.title, name: episode.shelved.episode.name,
                    cover: maker.routes.smallCover(identity.book), heard: maker.heard(known),
                    player: maker.play(episode.shelved.episode, file, of: book, at: known, speed: speed),
                    actions: maker.dismissal(of: book)))
        }
        return views
    }
}
