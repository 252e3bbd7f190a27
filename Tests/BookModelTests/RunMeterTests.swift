import Support
import Testing

@testable import BookModel

/// The one stream of events, with how fast things go added to it.
@Suite struct RunMeterTests {
    private let start = ContinuousClock.now
    private let episode = Episode.sample(1, size: 100_000)

    private func progress(_ bytes: Int64) -> TransferProgress {
        TransferProgress(
            episode: episode.identity, section: 1, name: "1", path: "1.mp3", bytesDone: bytes, bytesReused: 20_000,
            total: 100_000)
    }

    /// What comes out when these come in, each so many milliseconds after the start.
    private func passed(_ events: [(Int, SyncEvent)]) -> [SyncEvent] {
        let told = Watched<[SyncEvent]>([])
        let meter = RunMeter { event in told.update { $0.append(event) } }
        for (milliseconds, event) in events { meter.pass(event, at: start + .milliseconds(milliseconds)) }
        return told.value
    }

    private var plan: SyncEvent {
        .planned(
            SyncPlan(
                book: .sample(),
                actions: [.init(kind: .resume, episode: episode, path: "1.mp3", bytes: 80_000, reason: "")]))
    }

    @Test func `progress tells the speed of the last seconds and the time that is left`() {
        let events = passed(
            [(0, plan), (0, .started(progress(20_000)))]
                + (1...4).map { ($0 * 1000, .progressed(progress(20_000 + Int64($0) * 10_000))) })
        let told = events.compactMap { if case .progressed(let progress) = $0 { progress } else { nil } }
        #expect(told.count == 4)
        #expect(told.last?.bytesPerSecond == 10_000)
        #expect(told.last?.bytes.secondsLeft == 4)
    }

    @Test func `the run is told of as a whole, twice a second at most`() {
        let events = passed(
            [(0, plan), (0, .started(progress(20_000)))]
                + (1...40).map { ($0 * 100, .progressed(progress(20_000 + Int64($0) * 1000))) })
        let told = events.compactMap { if case .advanced(let run) = $0 { run } else { nil } }
        #expect(told.count == 9)
        #expect(told.last?.episodesInAll == 1)
        // What an earlier run brought is not this run's doing.
        #expect(told.last?.bytes == ByteProgress(bytesDone: 40_000, total: 80_000, bytesPerSecond: 10_000))
    }

    @Test func `everything else is handed on as it is`() {
        let events = passed([(0, .notice("a")), (0, plan), (1, .paused(episode.identity, name: "1"))])
        #expect(events.count == 4)
        guard case .notice("a") = events[0], case .planned = events[1], case .paused = events[2],
            case .advanced = events[3]
        else {
            Issue.record("\(events)")
            return
        }
    }
}
