import Languages

/// How results are laid out for people.
struct OutputStyle: Sendable {
    /// Columns of the terminal; nil where there is none, and nothing is wrapped.
    var width: Int?
    var usesColor = false
    /// What messages are in the user's language.
    var words: Wordings
}
