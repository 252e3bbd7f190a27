/// What came of merging a part of a listing into the store.
package struct MergeCounts: Sendable, Hashable {
    /// Episodes that the store did not know.
    package var added = 0
    /// Episodes of which something changed that the catalog says about them, the return of a gone one included.
    package var changed = 0
    /// Episodes of which the store knew all that the catalog says, their position in the listing perhaps excepted.
    package var unchanged = 0

    package static func += (one: inout Self, other: Self) {
        one.added += other.added
        one.changed += other.changed
        one.unchanged += other.unchanged
    }
}
