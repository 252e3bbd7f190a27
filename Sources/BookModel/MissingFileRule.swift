/// What becomes of an episode whose file the listener deleted behind booksync's back.
package enum MissingFileRule: String, Sendable, CaseIterable {
    /// It is missing, and fetched again.
    case fetch
    /// It was removed on purpose: it gets a tombstone and is not fetched again.
    case tombstone
}
