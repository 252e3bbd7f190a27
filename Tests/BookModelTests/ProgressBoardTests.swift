import Foundation
import Testing

@testable import BookModel

@Suite struct ProgressBoardTests {
    private static let book = BookIdentity(source: "kting", id: "1")
    private let start = ContinuousClock.now

    private static func episode(_ section: Int) -> Episode {
        Episode(
            identity: EpisodeIdentity(book: book, key: "\(section)"), section: section, name: "第\(section)集",
            size: 1000)
    }

    private static func plan(_ kinds: [SyncAction.Kind]) -> SyncEvent {
        let actions = kinds.enumerated().map {
            SyncAction(kind: $1, episode: episode($0 + 1), path: "\($0)", bytes: 1000, reason: "")
        }
        return .planned(SyncPlan(book: Book(identity: book, title: "t"), actions: actions))
    }

    private static func progress(_ section: Int, _ bytes: Int64, reused: Int64 = 0, total: Int64? = nil)
        -> TransferProgress
    {
        TransferProgress(
            episode: episode(section).identity, section: section, name: "第\(section)集", path: "", bytesDone: bytes,
            bytesReused: reused, total: total)
    }

    private static func receipt(_ section: Int, size: Int64) -> SyncEvent {
        .finished(
            TransferReceipt(
                outcome: .fetched, section: section, name: "",
                file: LocalFile(
                    episode: episode(section).identity, path: "", size: size, sha256: "", modificationTime: 0,
                    inode: 0, fetchedAt: Date(timeIntervalSince1970: 0), verification: .length),
                bytesReceived: size, bytesReused: 0, seconds: 1, remarks: []))
    }

    private func state(after events: [SyncEvent]) -> ProgressState {
        var board = ProgressBoard()
        for (second, event) in events.enumerated() { board.apply(event, at: start + .seconds(second)) }
        return board.state(at: start + .seconds(events.count - 1))
    }

    @Test func `what waits is told with what it waits for, until it goes on`() {
        var board = ProgressBoard()
        let catalog = WaitSubject.book(Self.book)
        board.apply(.waiting(catalog, Wait(name: "Book", reason: "asking the catalog")), at: start)
        #expect(board.state(at: start + .milliseconds(900)).waits.isEmpty, "most answer at once")
        #expect(
            board.state(at: start + .seconds(12)).waits.map(\.description) == ["Book: asking the catalog, for 12 s"])
        board.apply(.waiting(catalog, nil), at: start + .seconds(12))
        board.apply(.started(Self.progress(1, 0)), at: start + .seconds(12))
        #expect(board.state(at: start + .seconds(12)).waits.isEmpty)

        let busy = Wait(name: "第1集", reason: "HTTP status 503", seconds: 6)
        board.apply(.waiting(.episode(Self.episode(1).identity), busy), at: start + .seconds(13))
        let state = board.state(at: start + .seconds(15))
        #expect(state.transfers == [] && state.waits.map(\.description) == ["第1集: HTTP status 503; next try in 4 s"])
        board.apply(.started(Self.progress(1, 100)), at: start + .seconds(19))
        #expect(board.state(at: start + .seconds(19)).waits.isEmpty)
        #expect(board.state(at: start + .seconds(19)).transfers.count == 1)
        #expect(board.state(at: start + .seconds(24)).waits.map(\.description) == ["第1集: no data for 5 s"])
        board.apply(Self.receipt(1, size: 1000), at: start + .seconds(25))
        #expect(board.state(at: start + .seconds(60)).waits.isEmpty)
    }

    @Test func `of several catalogs is told how many are asked, and have answered`() {
        var board = ProgressBoard()
        func lines(after seconds: Double) -> [String] {
            board.state(at: start + .seconds(seconds)).waits.map(\.description)
        }
        board.apply(.asking(catalogs: 12), at: start)
        #expect(lines(after: 0) == [])
        let books = (1...3).map { WaitSubject.book(BookIdentity(source: "s", id: "\($0)")) }
        for book in books { board.apply(.waiting(book, Wait(name: "B", reason: "asking the catalog")), at: start) }
        #expect(lines(after: 0.5) == ["asking 3 of 12 catalogs"])
        board.apply(.waiting(books[0], nil), at: start)
        #expect(lines(after: 0.5) == ["asking 2 of 12 catalogs, 1 answered"])
        #expect(lines(after: 2).count == 3, "slow ones have their own lines as well")
        for book in books.dropFirst() { board.apply(.waiting(book, nil), at: start) }
        #expect(lines(after: 2) == [])
    }

    @Test func `files whose durations are being read are counted, until none is left`() {
        var board = ProgressBoard()
        board.apply(.reading(files: 36), at: start)
        #expect(board.state(at: start).waits.map(\.description) == ["reading durations of 36 files"])
        board.apply(.reading(files: 0), at: start)
        #expect(board.state(at: start).waits.isEmpty)
    }

    @Test func `what one server lets wait is told once, with the time of the first`() {
        var board = ProgressBoard()
        for section in 1...3 {
            let wait = Wait(name: "第\(section)集", reason: "HTTP status 429", seconds: 100, server: "http://cdn")
            board.apply(
                .waiting(.episode(Self.episode(section).identity), wait), at: start + .seconds(section * 10))
        }
        func lines(after seconds: Double) -> [String] {
            board.state(at: start + .seconds(seconds)).waits.map(\.description)
        }
        #expect(lines(after: 40) == ["http://cdn: HTTP status 429, 3 waiting; next try in 1 min 10 s"])
        #expect(lines(after: 111) == ["http://cdn: HTTP status 429, 3 waiting; next in turn"])
        for section in 1...2 { board.apply(.started(Self.progress(section, 0)), at: start + .seconds(111)) }
        #expect(lines(after: 112) == ["第3集: HTTP status 429; next try in 18 s"])
    }

    @Test func `the plans say how much there is to do`() {
        let state = state(after: [Self.plan([.fetch, .keep, .replace, .skip(.locked), .rename])])
        #expect(state.run.episodesInAll == 2)
        #expect(state.run.bytes == .init(bytesDone: 0, total: 2000))
    }

    @Test func `running transfers are listed in the order in which they began`() {
        let state = state(after: [
            Self.plan([.fetch, .fetch, .fetch]), .started(Self.progress(3, 0, total: 1000)),
            .started(Self.progress(1, 0)), .progressed(Self.progress(3, 600, total: 1000)),
        ])
        #expect(state.transfers.map(\.name) == ["第3集", "第1集"])
        #expect(state.transfers.first?.bytes == .init(bytesDone: 600, total: 1000, bytesPerSecond: 300))
        #expect(state.run.bytes.bytesDone == 600)
    }

    @Test func `bytes of earlier runs count for the transfer and not for the run`() {
        let state = state(after: [
            Self.plan([.resume]), .started(Self.progress(1, 400, reused: 400, total: 1200)),
            .progressed(Self.progress(1, 700, reused: 400, total: 1200)),
            // After a cut, the next attempt finds what the first one fetched.
            .started(Self.progress(1, 700, reused: 700, total: 1200)),
        ])
        #expect(state.transfers.first?.bytes.bytesDone == 700)
        #expect(state.run.bytes.bytesDone == 300)
        #expect(state.run.bytes.total == 800)
        #expect(state.bytesResumed == 400)
    }

    @Test func `what ended is no longer awaited`() {
        let failure = Failure(.temporary, what: "episode 2", why: "refused")
        let state = state(after: [
            Self.plan([.fetch, .fetch, .fetch, .fetch]), .started(Self.progress(1, 0, total: 1100)),
            .started(Self.progress(2, 0)), .progressed(Self.progress(2, 300)),
            .failed(FailureReport(book: Self.book, episode: Self.episode(2).identity, failure: failure)),
            Self.receipt(1, size: 1100), .started(Self.progress(3, 0)), .paused(Self.episode(3).identity, name: "3"),
            .failed(FailureReport(book: Self.book, failure: failure)),
        ])
        #expect(state.transfers == [])
        #expect((state.run.episodesDone, state.run.episodesFailed, state.run.episodesInAll) == (1, 1, 4))
        #expect(state.run.bytes.bytesDone == 1400)
        #expect(state.run.bytes.total == 2400)
    }
}
