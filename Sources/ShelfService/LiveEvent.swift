/// Something that happened, as clients are told of it.
package struct LiveEvent: Sendable, Hashable {
    /// What it is about: an episode, a book, a run.
    package let subject: String
    /// Whether the next one about the same says all that this one does.
    package let isProgress: Bool
    /// JSON on one line.
    package let text: String
}
