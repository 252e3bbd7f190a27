import BookModel
import CatalogStore
import ShelfQueries

/// Puts into words what is different from one look at the shelf to the next.
struct LiveEventWriter: Sendable {
    /// What is known of the episodes that move, by their rows.
    private var episodes: [Int64: EpisodeRecord] = [:]
    /// Books of which something changed that was not told yet, and when each was last told of.
    private var changedBooks: Set<BookIdentity> = []
    private var reportedBooks: [BookIdentity: ContinuousClock.Instant] = [:]
    private var reportedRun: ShelfDiff.RunState?
    private var reportedRunAt: ContinuousClock.Instant?

    /// Between two words about a run, or a book.
    private static let pause = Duration.seconds(1)

    /// Whether something was not told yet.
    var hasMore: Bool { !changedBooks.isEmpty }

    /// What is under way now, for a client that knows nothing of it.
    func whole(of diff: ShelfDiff, at now: ContinuousClock.Instant) -> [LiveEvent] {
        let under = diff.moving.filter(\.value.isUnderWay).keys.sorted()
        var events = under.compactMap { row in episodes[row].map { word("progress", $0, row, in: diff, at: now) } }
        if let run = diff.run, run.isUnderWay { events.append(word(run, in: diff, at: now)) }
        return events
    }

    /// What has to be told of a look: of episodes at once, of books and the run once a second.
    /// - Parameter turns: what happened to episodes, as `diff` found.
    mutating func events(
        of turns: [(row: Int64, turn: ShelfDiff.Turn)], in diff: ShelfDiff, _ store: CatalogStore, isRunUnderWay: Bool,
        at now: ContinuousClock.Instant
    ) async throws -> [LiveEvent] {
        var events = try await episodeEvents(turns, diff, store, isRunUnderWay: isRunUnderWay, at: now)
        events += try await bookEvents(store, at: now)
        if let event = runEvent(diff, at: now) { events.append(event) }
        return events
    }

    /// The episodes in these rows.
    mutating func known(_ rows: [Int64], _ store: CatalogStore) async throws -> [Int64: EpisodeRecord] {
        episodes.merge(try await store.episodes(inRows: rows.filter { episodes[$0] == nil })) { $1 }
        return episodes
    }

    private mutating func episodeEvents(
        _ turns: [(row: Int64, turn: ShelfDiff.Turn)], _ diff: ShelfDiff, _ store: CatalogStore, isRunUnderWay: Bool,
        at now: ContinuousClock.Instant
    ) async throws -> [LiveEvent] {
        let anew = turns.filter { $0.turn != .progressed || episodes[$0.row] == nil }.map(\.row)
        let found = try await store.episodes(inRows: anew)
        for row in anew { episodes[row] = found[row] }
        var events: [LiveEvent] = []
        for (row, turn) in turns {
            guard let shelved = episodes[row] else { continue }
            switch turn {
            case .started: events.append(word("started", shelved, row, in: diff, at: now))
            case .progressed: events.append(word("progress", shelved, row, in: diff, at: now))
            case .changed:
                let effective = shelved.effective(isRunUnderWay: isRunUnderWay)
                events.append(word(effective.state.rawValue, effective, row, in: diff, at: now))
                changedBooks.insert(shelved.episode.identity.book)
                if diff.moving[row] == nil { episodes[row] = nil }
            }
        }
        return events
    }

    private func word(
        _ event: String, _ shelved: EpisodeRecord, _ row: Int64, in diff: ShelfDiff, at now: ContinuousClock.Instant
    ) -> LiveEvent {
        let (episode, moving) = (shelved.episode, diff.moving[row])
        let isUnderWay = moving?.isUnderWay == true
        let progress = ByteProgress(
            bytesDone: isUnderWay ? moving?.bytes ?? 0 : shelved.file?.size ?? shelved.transfer?.committedLength ?? 0,
            total: moving?.total ?? shelved.file?.size ?? shelved.transfer?.total ?? episode.size,
            bytesPerSecond: moving?.bytesPerSecond(at: now))
        let state = isUnderWay ? moving?.state.rawValue ?? "downloading" : shelved.state.rawValue
        let document = JSONDocument.naming(episode.identity, section: episode.section, name: episode.name)
            .event(event).adding([
                "state": .string(state),
                "bytes_done": .integer(progress.bytesDone),
                "size": .init(progress.total),
                "bytes_per_second": .init(progress.bytesPerSecond),
                "seconds_left": .init(progress.secondsLeft),
                "error": .init(shelved.state == .failed ? shelved.transfer?.error?.description : nil),
            ])
        return LiveEvent(
            subject: "\(episode.identity)", isProgress: event == "progress" || event == "started",
            text: document.text())
    }

    /// The counts of books that are another's now, each once a second.
    private mutating func bookEvents(
        _ store: CatalogStore, at now: ContinuousClock.Instant
    ) async throws -> [LiveEvent] {
        let due = changedBooks.filter { book in reportedBooks[book].map { now - $0 >= Self.pause } ?? true }
        guard !due.isEmpty else { return [] }
        changedBooks.subtract(due)
        reportedBooks = reportedBooks.filter { now - $0.value < Self.pause }
        for book in due { reportedBooks[book] = now }
        return try await store.books(due.sorted()).map { shelved in
            LiveEvent(
                subject: "book \(shelved.book.identity)", isProgress: true,
                text: (["event": "book"] as JSONDocument).adding(JSONDocument(shelved)).text())
        }
    }

    /// That a run began or ended, and once a second how it goes.
    private mutating func runEvent(_ diff: ShelfDiff, at now: ContinuousClock.Instant) -> LiveEvent? {
        guard let run = diff.run else { return nil }
        if reportedRun == nil, !run.isUnderWay {
            // One that was over before anybody looked is no news.
            reportedRun = run
            return nil
        }
        if reportedRun?.isSame(as: run) == true {
            guard run.isUnderWay, reportedRunAt.map({ now - $0 >= Self.pause }) ?? true else { return nil }
        }
        (reportedRun, reportedRunAt) = (run, now)
        return word(run, in: diff, at: now)
    }

    private func word(_ run: ShelfDiff.RunState, in diff: ShelfDiff, at now: ContinuousClock.Instant) -> LiveEvent {
        let state: ShownRun.State = run.run.isEnded ? .ended : run.isUnderWay ? .underWay : .cutOff
        let underWay = run.isUnderWay ? diff.moving.filter(\.value.isUnderWay) : [:]
        let left = run.isUnderWay ? diff.waiting + underWay.count : 0
        let episodes = run.run.done + left
        let begun = underWay.reduce(0.0) { $0 + $1.value.share(ofSize: self.episodes[$1.key]?.episode.size) }
        let share = episodes == 0 ? 1 : (Double(run.run.done) + begun) / Double(episodes)
        let document: JSONDocument = [
            "event": "run", "id": .integer(run.run.number), "command": .string(run.run.command),
            "state": .string(state.rawValue), "episodes_done": .init(run.run.done),
            "episodes": .init(episodes),
            "share_done": .init(share),
            "bytes_done": .integer(run.run.bytes.addingSaturated(underWay.values.saturatedSum(of: \.bytes))),
            "bytes_per_second": .init(run.isUnderWay ? diff.bytesPerSecond(at: now) : nil),
        ]
        return LiveEvent(subject: "run", isProgress: run.isUnderWay, text: document.text())
    }
}
