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
