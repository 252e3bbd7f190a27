import BookModel

/// How results are laid out for people.
package struct OutputStyle: Sendable {
    /// Columns of the terminal; nil where there is none, and nothing is wrapped.
    package var width: Int?
    package var usesColor = false
    /// What messages are in the user's language.
    package var words: Wordings
}
