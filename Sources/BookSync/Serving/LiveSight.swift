import BookModel
import CatalogStore
import Foundation

/// Looks at the store and at what is on disk, and puts into words what is different.
struct LiveSight: Sendable {
    private var store: CatalogStore?
    /// The file that the store is in; another one in its place is another store.
    private var file: UInt64?
    /// Whether there was none at the last look.
    private var wasMissing = false
    private var version: StoreVersion?
    private var board = LiveBoard()
    /// What is known of the episodes that move, by their rows.
    private var episodes: [Int64: ShelvedEpisode] = [:]
    /// Books of which something changed that was not told yet, and when each was last told of.
    private var changedBooks: Set<BookIdentity> = []
    private var toldBooks: [BookIdentity: ContinuousClock.Instant] = [:]
    private var toldRun: LiveBoard.RunState?
    private var toldRunAt: ContinuousClock.Instant?

    /// Between two words about a run, or a book.
    private static let pause = Duration.seconds(1)

    mutating func close() async {
        let open = store
        (store, version) = (nil, nil)
        do {
            try await open?.close()
        } catch {
            // It was for reading only: nothing can be lost.
        }
    }

    /// What happened since the last look.
    mutating func look(at library: String, now: ContinuousClock.Instant) async throws -> [LiveEvent] {
        guard let store = try await opened(library) else { return [] }
        let current = try await store.version()
        guard current != version || board.needsLook || !changedBooks.isEmpty else { return [] }
        var look = try await store.liveLook(filesSince: board.filesSince)
        // What was there at the first look is no news at the second.
        if board.filesSince == nil, let last = look.lastFile {
            look = try await store.liveLook(filesSince: last - LiveBoard.slack)
        }
        version = current
        let isRunUnderWay =
            look.run?.isEnded == false
                || look.transfers.values.contains { [.downloading, .verifying].contains($0.state) }
            ? try await LibraryLock.isHeld(in: library) : false
        let coming = isRunUnderWay ? look.transfers.filter { $0.value.state == .downloading } : [:]
        let unknown = coming.keys.filter { episodes[$0] == nil }
        episodes.merge(try await store.episodes(inRows: unknown)) { $1 }
        var bytes: [Int64: Int64] = [:]
        if !coming.isEmpty {
            let partials = try await PartialSizes(library: library)
            for row in coming.keys {
                // Without one it was just put in its place: what was known of it stays.
                bytes[row] = episodes[row].flatMap { partials.bytes(of: $0.episode.identity) }
            }
        }
        let turns = board.take(look, bytes: bytes, isRunUnderWay: isRunUnderWay, at: now)
        var events = try await told(turns, store, isRunUnderWay: isRunUnderWay, at: now)
        events += try await toldBooks(store, at: now)
        if let event = toldRun(at: now) { events.append(event) }
        return events
    }

    private mutating func opened(_ library: String) async throws -> CatalogStore? {
        let path = LibraryFolder.existing(at: library).storePath
        let number = try await offPool { () -> UInt64? in
            guard FileManager.default.fileExists(atPath: path) else { return nil }
            return try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? UInt64
        }
        if let store, number == file { return store }
        await close()
        if number != file { board = LiveBoard(isNew: wasMissing) }
        wasMissing = number == nil
        guard let number else {
            file = nil
            return nil
        }
        store = try await LibraryFolder.readableStore(in: library)
        file = number
        return store
    }

    // MARK: In words

    /// What is under way now, for a client that knows nothing of it.
    func whole(at now: ContinuousClock.Instant) -> [LiveEvent] {
        let under = board.moving.filter(\.value.isUnderWay).keys.sorted()
        var events = under.compactMap { row in episodes[row].map { word("progress", $0, row, at: now) } }
        if let run = board.run, run.isUnderWay { events.append(word(run, at: now)) }
        return events
    }

    private mutating func told(
        _ turns: [(row: Int64, turn: LiveBoard.Turn)], _ store: CatalogStore, isRunUnderWay: Bool,
        at now: ContinuousClock.Instant
    ) async throws -> [LiveEvent] {
        let anew = turns.filter { $0.turn != .progressed || episodes[$0.row] == nil }.map(\.row)
        let found = try await store.episodes(inRows: anew)
        for row in anew { episodes[row] = found[row] }
        var events: [LiveEvent] = []
        for (row, turn) in turns {
            guard let shelved = episodes[row] else { continue }
            switch turn {
            case .started: events.append(word("started", shelved, row, at: now))
            case .progressed: events.append(word("progress", shelved, row, at: now))
            case .changed:
                let standing = shelved.standing(isRunUnderWay: isRunUnderWay)
                events.append(word(standing.state.rawValue, standing, row, at: now))
                changedBooks.insert(shelved.episode.identity.book)
                if board.moving[row] == nil { episodes[row] = nil }
            }
        }
        return events
    }

    private func word(
        _ event: String, _ shelved: ShelvedEpisode, _ row: Int64, at now: ContinuousClock.Instant
    ) -> LiveEvent {
        let (episode, moving) = (shelved.episode, board.moving[row])
        let isUnderWay = moving?.isUnderWay == true
        let progress = ByteProgress(
            bytesDone: isUnderWay ? moving?.bytes ?? 0 : shelved.file?.size ?? shelved.transfer?.committedLength ?? 0,
            total: moving?.total ?? shelved.file?.size ?? shelved.transfer?.total ?? episode.size,
            bytesPerSecond: moving?.bytesPerSecond(at: now))
        let state = isUnderWay ? moving?.state.rawValue ?? "downloading" : shelved.state.rawValue
        let document: JSONDocument = [
            "event": .string(event),
            "source": .string(episode.identity.book.source),
            "book_id": .string(episode.identity.book.id),
            "id": .string(episode.identity.key),
            "section": .init(episode.section),
            "name": .name(episode.name),
            "state": .string(state),
            "bytes_done": .integer(progress.bytesDone),
            "size": .init(progress.total),
            "bytes_per_second": .init(progress.bytesPerSecond),
            "seconds_left": .init(progress.secondsLeft),
            "error": .init(shelved.state == .failed ? shelved.transfer?.error : nil),
        ]
        return LiveEvent(
            subject: "\(episode.identity)", isProgress: event == "progress" || event == "started",
            text: document.text())
    }

    /// The counts of books that are another's now, each once a second.
    private mutating func toldBooks(
        _ store: CatalogStore, at now: ContinuousClock.Instant
    ) async throws -> [LiveEvent] {
        let due = changedBooks.filter { book in toldBooks[book].map { now - $0 >= Self.pause } ?? true }
        guard !due.isEmpty else { return [] }
        changedBooks.subtract(due)
        toldBooks = toldBooks.filter { now - $0.value < Self.pause }
        for book in due { toldBooks[book] = now }
        return try await store.books(due.sorted()).map { shelved in
            LiveEvent(
                subject: "book \(shelved.book.identity)", isProgress: true,
                text: (["event": "book"] as JSONDocument).adding(JSONDocument(shelved)).text())
        }
    }

    /// That a run began or ended, and once a second how it goes.
    private mutating func toldRun(at now: ContinuousClock.Instant) -> LiveEvent? {
        guard let run = board.run else { return nil }
        if toldRun == nil, !run.isUnderWay {
            // One that was over before anybody looked is no news.
            toldRun = run
            return nil
        }
        if toldRun?.isSame(as: run) == true {
            guard run.isUnderWay, toldRunAt.map({ now - $0 >= Self.pause }) ?? true else { return nil }
        }
        (toldRun, toldRunAt) = (run, now)
        return word(run, at: now)
    }

    private func word(_ run: LiveBoard.RunState, at now: ContinuousClock.Instant) -> LiveEvent {
        let state: ShownRun.State = run.run.isEnded ? .ended : run.isUnderWay ? .underWay : .cutOff
        let underWay = run.isUnderWay ? board.moving.filter(\.value.isUnderWay) : [:]
        let left = run.isUnderWay ? board.waiting + underWay.count : 0
        let episodes = run.run.done + left
        let begun = underWay.reduce(0.0) { $0 + $1.value.share(ofSize: self.episodes[$1.key]?.episode.size) }
        let share = episodes == 0 ? 1 : (Double(run.run.done) + begun) / Double(episodes)
        let document: JSONDocument = [
            "event": "run", "id": .integer(run.run.number), "command": .string(run.run.command),
            "state": .string(state.rawValue), "episodes_done": .init(run.run.done),
            "episodes": .init(episodes),
            "share_done": .init(share),
            "bytes_done": .integer(run.run.bytes + underWay.values.reduce(0) { $0 + $1.bytes }),
            "bytes_per_second": .init(run.isUnderWay ? board.bytesPerSecond(at: now) : nil),
        ]
        return LiveEvent(subject: "run", isProgress: run.isUnderWay, text: document.text())
    }
}
