import BookModel

/// What a run is to do.
package struct RunRequest: Sendable {
    /// One book of the run.
    package struct Item: Sendable, Hashable {
        package var book: BookIdentity
        package var filter: EpisodeFilter
        /// Overrides what the catalog says.
        package var title: String?

        package init(book: BookIdentity, filter: EpisodeFilter = .init(), title: String? = nil) {
            self.book = book
            self.filter = filter
            self.title = title
        }
    }

    package var items: [Item]
    package var order: TransferOrder
    /// Also what has a tombstone, is paused, or waits for its next try.
    package var force: Bool

    package init(items: [Item], order: TransferOrder = .first, force: Bool = false) {
        self.items = items
        self.order = order
        self.force = force
    }
}

/// What a run came to.
package struct RunReport: Sendable {
    package var summary = RunSummary()
    /// Every failure of the run, of books and of episodes.
    package var failures: [Failure] = []

    package init() {}
}
