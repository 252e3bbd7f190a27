/// What is remembered of a book in which nothing was to be done: a plan depends on nothing but the store, the rules and
/// what stands on disk, so that it need not be made again while none of them changed.
package struct CachedPlan: Sendable, Hashable {
    /// Of the rules and of what stood in ``folders``.
    package var fingerprint: String
    /// Relative to the library: all that the plan looked into.
    package var folders: [String]
    /// What it came to: episodes kept and skipped, and nothing else.
    package var totals: PlanTotals

    package init(fingerprint: String, folders: [String], totals: PlanTotals) {
        self.fingerprint = fingerprint
        self.folders = folders
        self.totals = totals
    }
}
