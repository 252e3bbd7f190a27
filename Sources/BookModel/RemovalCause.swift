/// Why an episode counts as removed, so that it is not fetched again.
package enum RemovalCause: String, Sendable, CaseIterable {
    case user
    /// The rule of its book, by which only some of it stays on disk.
    case keepRule = "keep_rule"
    /// Its file was deleted outside booksync (`downloads.on-missing-file: tombstone`).
    case missingFile = "missing_file"
    /// Another program had fetched it, as that program's records say, and no file of it was found.
    case imported
}
