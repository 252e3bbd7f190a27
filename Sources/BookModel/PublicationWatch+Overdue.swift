import Foundation

extension PublicationWatch {
    /// How many of a book's newest episodes tell how often it appears.
    package static let sampleSize = 11
    /// Episodes below which nothing is usual yet.
    private static let minSample = 4
    /// Usual gaps without an episode after which a book is overdue.
    private static let patience = 3.0

    /// The seconds that usually lie between two episodes: the median of the gaps between the newest of them, so that one
    /// summer break or one double episode changes nothing.
    /// - Parameter dates: of publication, the newest first.
    /// - Returns: nil where too few are known, or they did not appear bit by bit (a whole book put up in one day).
    package static func usualGap(_ dates: [Date]) -> Double? {
        guard dates.count >= minSample else { return nil }
        let gaps = zip(dates, dates.dropFirst()).map { $0.timeIntervalSince($1) }.sorted()
        let middle = gaps.count / 2
        let median = gaps.count.isMultiple(of: 2) ? (gaps[middle - 1] + gaps[middle]) / 2 : gaps[middle]
        return median >= 3600 ? median : nil
    }

    /// Whether its next episode should have appeared long ago.
    package func isOverdue(at now: Date) -> Bool {
        now.timeIntervalSince(latest) > usualGap * Self.patience
    }

    /// What is waited for now.
    ///
    /// A book that is overdue when it is first looked at is one that has ended, or rests: nobody has to be told that
    /// nothing comes.
    /// - Parameters:
    ///   - before: what was waited for so far; nil for nothing.
    ///   - dates: of publication, the newest first.
    /// - Returns: nil where nothing can be said.
    package static func next(
        of book: BookIdentity, title: String, before: PublicationWatch?, dates: [Date], now: Date
    ) -> PublicationWatch? {
        guard let latest = dates.first, let gap = usualGap(dates) else { return nil }
        var watch = PublicationWatch(book: book, title: title, latest: latest, usualGap: gap, isReported: false)
        watch.isReported =
            if let before { before.isReported && before.latest == latest } else { watch.isOverdue(at: now) }
        return watch
    }
}
