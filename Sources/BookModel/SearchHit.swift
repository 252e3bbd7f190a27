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

/// Which of a book's episodes are looked at, and from which end.
package struct EpisodeSelection: Sendable, Hashable {
    /// The state that they are in; nil for any.
    package var state: EpisodeState?
    /// What stands in their names, ASCII letters in either case; empty for anything.
    package var text: String
    /// Whether the last one comes first.
    package var isReversed: Bool

    package init(state: EpisodeState? = nil, text: String = "", isReversed: Bool = false) {
        self.state = state
        self.text = text
        self.isReversed = isReversed
    }
}
