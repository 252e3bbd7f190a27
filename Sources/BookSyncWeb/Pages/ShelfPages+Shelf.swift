import BookModel
import BookSync

extension ShelfPages {
    private static let maxPage = 1_000_000

    private static let sorts: [(order: ShelfOrder, label: Phrase)] = [
        (.updated, .sortNews), (.title, .sortTitle), (.author, .sortAuthor), (.missing, .sortMissing),
    ]

    /// All books, and what was listened to last.
    func shelfPage(_ request: Request) async throws -> Page {
        let (phrases, maker) = (phrases(for: request), maker(for: request))
        let order = (Self.sorts.first { $0.order.rawValue == request.query["sort"] } ?? Self.sorts[0]).order
        let number = request.query["page"].map { min(max(1, Int($0) ?? 1), Self.maxPage) }
        let fronts = try await request.shelf.front(by: order, upTo: number)
        let front = ShelfFront(fronts.answers.map(\.value), by: order)
        let more = request.visitor.mayChange ? try await request.shelf.offered(front.unshelved) : []
        let part = PagePart(request.query["page"], of: front.sum.books, size: ServedShelf.booksOnPage)
        func address(_ page: Int, _ order: ShelfOrder) -> String {
            let query = (order == .updated ? [] : ["sort=\(order.rawValue)"]) + (page == 1 ? [] : ["page=\(page)"])
            return request.routes.root + "/" + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
        }
        let shown = front.books.dropFirst(part.first).prefix(part.size)
        let sum = [
            phrases(.countBooks, count: front.sum.books), phrases(.countEpisodes, count: front.sum.episodes),
            phrases.bytes(front.sum.bytes),
        ]
        let view = (
            // Whether anything may be downloaded while the page is looked at.
            isLive: !request.visitor.user.isLimited, continuing: front.listening.map { Self.view($0, maker) },
            sum: front.sum.books == 0 ? "" : sum.joined(separator: " · "), isSortable: front.sum.books > 1,
            sorts: Self.sorts.map {
                ChoiceView(
                    href: address(1, $0.order), label: phrases($0.label), count: nil, isCurrent: $0.order == order
                )
            },
            isEmpty: front.sum.books == 0 && fronts.failures.isEmpty,
            books: shown.map { book in
                let identity = book.book.identity
                return maker.card(book, front.progress[identity], isMoving: front.moving.contains(identity))
            },
            pager: part.pager(phrases) { address($0, order) },
            // Books that followed authors have besides.
            more: more.map { listed in
                let add = maker.button(
                    "subscribe", .add, field: "ref", value: listed.reference, of: listed.title)
                return (title: listed.title, author: listed.author, actions: [add])
            }
        )
        return try page(
            .shelf, view, with: "shelf", for: request, section: .shelf, unanswered: fronts.failures)
    }

    private static func view(_ listening: ShelfFront.Listening, _ maker: ViewMaker) -> Any {
        let (book, episode) = (listening.book, listening.episode)
        return (
            page: maker.routes.page(of: episode.identity), bookPage: maker.routes.page(of: book.identity),
            bookTitle: book.title, name: episode.name, cover: maker.routes.smallCover(of: book.identity),
            heard: maker.heard(listening.position),
            player: maker.play(episode, listening.file, of: book, at: listening.position, speed: listening.speed),
            actions: maker.dismissal(of: book)
        )
    }
}
