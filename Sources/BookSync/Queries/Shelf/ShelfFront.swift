import BookModel
import CatalogStore

/// What of a shelf is seen first: its first books in some order, with what is shown beside them.
package struct ShelfFront: Sendable {
    /// A book that the user listens to, and the episode to go on with.
    package struct Listening: Sendable {
        package var book: Book
        package var episode: Episode
        package var file: LocalFile
        /// Where the user stopped in the episode; nil where they have not begun it.
        package var position: ListeningPosition?
        package var speed: Double?
        /// The last position in the book, which may be in an episode before.
        fileprivate var last: ListeningPosition
    }

    /// Of all books.
    package var sum = ShelfSum()
    package var books: [BookSummary] = []
    /// Of ``books``; those that the user never listened to are left out.
    package var progress: [BookIdentity: ListeningProgress] = [:]
    /// Those of which something is being downloaded.
    package var moving: Set<BookIdentity> = []
    /// What was listened to last comes first.
    package var listening: [Listening] = []
    /// Books that are not on the shelf, of authors whose lists are followed; those that were listed last come first.
    package var unshelved: [ListedBook] = []
    package var isRunUnderWay = false

    /// Of ``listening``, and of ``unshelved``.
    fileprivate static let (listened, besides) = (4, 6)

    package init() {}

    /// Of several shelves: their books in order.
    /// - Parameter order: the one that each of them is in.
    package init(_ fronts: [ShelfFront], by order: ShelfOrder) {
        for front in fronts {
            sum += front.sum
            books += front.books
            progress.merge(front.progress) { first, _ in first }
            moving.formUnion(front.moving)
            listening += front.listening
            unshelved += front.unshelved
            isRunUnderWay = isRunUnderWay || front.isRunUnderWay
        }
        guard fronts.count > 1 else { return }
        books = books.sorted(by: order)
        unshelved = Array(unshelved.prefix(Self.besides))
        listening = Array(listening.sorted { $0.last.updatedAt > $1.last.updatedAt }.prefix(Self.listened))
    }
}

extension ShelfReader {
    /// Beyond so many books all are read in one go.
    private static let readOneByOne = 1000

    /// - Parameters:
    ///   - count: of books.
    ///   - isWhole: whether more than the books is wanted.
    package func front(by order: ShelfOrder, count: Int, isWhole: Bool) async throws -> ShelfFront {
        var front = ShelfFront()
        if order == .updated, user.books == nil, count <= Self.readOneByOne {
            (front.sum, front.books) = (
                try await store.shelfSum(), try await store.books(first: count, isNewestFirst: true)
            )
        } else {
            let books = try await books()
            (front.sum, front.books) = (ShelfSum(books), Array(books.sorted(by: order).prefix(count)))
        }
        front.progress = try await store.listeningProgress(of: front.books.map(\.book.identity), for: user.id)
        front.isRunUnderWay = isRunUnderWay
        if isRunUnderWay { front.moving = try await movingBooks() }
        guard isWhole else { return front }
        front.unshelved = try await store.unshelvedBooks(count: ShelfFront.besides)
        for position in try await latestPositions(limit: ShelfFront.listened * 2)
        where front.listening.count < ShelfFront.listened {
            guard let listening = try await listening(goingOnFrom: position) else { continue }
            front.listening.append(listening)
        }
        return front
    }

    private func listening(goingOnFrom last: ListeningPosition) async throws -> ShelfFront.Listening? {
        guard let identity = try await continuation(of: last), let (episode, book) = try await episode(identity),
            let file = episode.shelved.file
        else { return nil }
        let position =
            identity == last.episode ? last : try await store.positions(of: identity.book, for: user.id)[identity]
        return ShelfFront.Listening(
            book: book, episode: episode.shelved.episode, file: file, position: position,
            speed: try await store.speed(of: identity.book, for: user.id), last: last)
    }
}
