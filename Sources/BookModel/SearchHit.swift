/// Something on the shelf that a search found.
package enum SearchHit: Sendable, Hashable {
    case book(BookSummary)
    case episode(EpisodeRecord, of: Book)

    package var book: BookIdentity {
        switch self {
        case .book(let shelved): shelved.book.identity
        case .episode(_, let book): book.identity
        }
    }
}
