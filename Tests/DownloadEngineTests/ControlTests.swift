import BookModel
import CatalogStore
import Foundation
import Support
import Testing

@testable import DownloadEngine

/// Transfers that are paused and cancelled while they run, as another process does it: through the store alone.
@Suite(.limitedConcurrency) struct ControlTests {
    private let bytes = sampleMP3(bytes: 120_000)

    @Test(arguments: [TransferState.paused, .cancelled])
    func `a running transfer that another process stops ends, and the others go on`(
        state: TransferState
    ) async throws {
        let gate = Gate()
        let stalled = ServerScript.file(bytes, [.stall(at: 60_000, until: gate), .wellBehaved])
        try await withBench(.paths(["/a.mp3": stalled, "/b.mp3": stalled])) { bench in
            let (episode, other) = (bench.episode(), bench.episode(2, at: "/b.mp3"))
            let run = Task { try await bench.fetch(episode, other) }
            try await bench.waitUntilHeld(60_000, of: episode)
            try await bench.waitUntilHeld(60_000, of: other)
            try await stop(episode, as: state, in: bench)
            // Both answers stall for ever: only the other process's word can end this one.
            try await bench.events.waitUntil { $0.stopped == [.init(state, episode)] }
            try await bench.server.waitUntil { $0.exchanges(path: "/a.mp3").allSatisfy(\.isFinished) }
            #expect(bench.server.record.exchanges(path: "/b.mp3").allSatisfy { !$0.isFinished })
            gate.open()

            let report = try await run.value
            #expect(report.receipts.map(\.section) == [2])
            #expect(report.failures.isEmpty, "\(report.sentences)")
            #expect(report.left == 0)
            #expect(bench.events.value.stopped == [.init(state, episode)])
            #expect(try bench.partial(of: episode) == (state == .paused ? Array(bytes[..<60_000]) : nil))
            #expect(try await bench.record(of: episode)?.state == state)
            if state == .paused { #expect(try await bench.record(of: episode)?.committedLength == 60_000) }

            let resumed = try await bench.inAnotherProcess { try await $0.resume([episode.identity]) }
            #expect(resumed == 1)
            let next = try await bench.fetch(episode)
            #expect(next.outcomes == [state == .paused ? .resumed : .fetched])
            #expect(ranges(bench.server) == [nil, state == .paused ? "bytes=60000-" : nil])
            #expect(try bench.file() == bytes)
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == (state == .paused ? 120_000 : 180_000))
        }
    }

    @Test(arguments: [TransferState.paused, .cancelled])
    func `a waiting transfer that is stopped is never asked for`(state: TransferState) async throws {
        let gate = Gate()
        let script = ServerScript.paths([
            "/a.mp3": .file(bytes, [.stall(at: 60_000, until: gate)]), "/b.mp3": .file(bytes),
        ])
        try await withBench(script, jobs: 1) { bench in
            let (episode, waiting) = (bench.episode(), bench.episode(2, at: "/b.mp3"))
            try await bench.leave(bytes[..<50_000], of: waiting)
            let run = Task { try await bench.fetch(episode, waiting) }
            try await bench.waitUntilHeld(60_000, of: episode)
            try await stop(waiting, as: state, in: bench)
            try await bench.events.waitUntil { $0.stopped == [.init(state, waiting)] }
            gate.open()
            let report = try await run.value
            #expect(report.receipts.map(\.section) == [1])
            #expect(report.failures.isEmpty)
            #expect(report.left == 0)
            #expect(bench.server.requests(path: "/b.mp3").isEmpty)
            #expect(try bench.partial(of: waiting) == (state == .paused ? Array(bytes[..<50_000]) : nil))
        }
    }

    @Test func `a transfer that waits for its next try can be paused`() async throws {
        try await withBench(.always(.text("busy", status: 503, headers: ["Retry-After": "200"]))) { bench in
            let episode = bench.episode()
            let run = Task { try await bench.fetch(episode) }
            try await bench.server.waitUntil { $0.exchanges.count == 1 }
            try await stop(episode, as: .paused, in: bench)
            let report = try await run.value
            #expect(bench.events.value.stopped == [.init(.paused, episode)])
            #expect(report.failures.isEmpty)
            #expect(report.left == 0)
        }
    }

    @Test func `a transfer for which the catalog is being asked can be paused`() async throws {
        try await withBench(.paths(["/a.mp3": .always(.text("no", status: 403)), "/new.mp3": .file(bytes)])) { bench in
            let episode = bench.episode()
            let asked = Watched(false)
            let answer = Watched(false)
            var request = try await bench.request(episode)
            request.renewAddress = { _ in
                asked.update { $0 = true }
                try await answer.waitUntil { $0 }
                return bench.server.address("/new.mp3")
            }
            let looks = Watched(0)
            let journal = ObservedJournal(store: bench.store, looks: looks)
            let run = Task { [request] in await bench.run([request], journal: journal) }
            try await asked.waitUntil { $0 }
            try await stop(episode, as: .paused, in: bench)
            let before = looks.value
            try await looks.waitUntil { $0 >= before + 2 }
            answer.update { $0 = true }
            let report = await run.value
            #expect(bench.events.value.stopped == [.init(.paused, episode)])
            #expect(report.failures.isEmpty, "\(report.sentences)")
            #expect(bench.server.requests(path: "/new.mp3").isEmpty)
            #expect(try await bench.record(of: episode)?.state == .paused)
        }
    }

    @Test func `one that is asked for again while its address is renewed is fetched once`() async throws {
        try await withBench(.paths(["/a.mp3": .always(.text("no", status: 403)), "/new.mp3": .file(bytes)])) { bench in
            let episode = bench.episode()
            let (asked, answer, looks) = (Watched(false), Watched(false), Watched(0))
            var request = try await bench.request(episode)
            request.renewAddress = { _ in
                asked.update { $0 = true }
                try await answer.waitUntil { $0 }
                return bench.server.address("/new.mp3")
            }
            let inbox = TransferInbox()
            let engine = bench.engine(journal: ObservedJournal(store: bench.store, looks: looks))
            #expect(inbox.hold())
            inbox.add([request])
            async let report = engine.run(inbox)
            try await asked.waitUntil { $0 }
            try await stop(episode, as: .paused, in: bench)
            let before = looks.value
            try await looks.waitUntil { $0 >= before + 2 }
            #expect(try await bench.inAnotherProcess { try await $0.resume([episode.identity]) } == 1)
            request.asOf = .now
            inbox.add([request])
            inbox.release(1)
            let seen = looks.value
            try await looks.waitUntil { $0 >= seen + 2 }
            answer.update { $0 = true }
            let outcome = await report
            #expect(outcome.outcomes == [.fetched] && outcome.failures.isEmpty, "\(outcome.sentences)")
            #expect(bench.server.requests(path: "/new.mp3").count == 1)
        }
    }

    @Test(arguments: ["paused", "failed", "of an earlier run"])
    func `what is cancelled and not under way loses its partial file as well`(what: String) async throws {
        let gate = Gate()
        let stalled = ServerScript.file(bytes, [.stall(at: 50_000, until: gate), .wellBehaved])
        try await withBench(.paths(["/a.mp3": stalled, "/b.mp3": .file(bytes, [.cut(at: 50_000)])]), retries: 0) {
            bench in
            let (running, other) = (bench.episode(), bench.episode(2, at: "/b.mp3"))
            if what == "of an earlier run" { try await bench.leave(bytes[..<50_000], of: other) }
            var requests = [try await bench.request(running)]
            if what == "failed" { requests.append(try await bench.request(other)) }
            let inbox = TransferInbox()
            inbox.add(requests)
            async let report = bench.engine().run(inbox)
            try await bench.waitUntilHeld(50_000, of: running)
            let subject = what == "paused" ? running : other
            if what == "paused" {
                #expect(inbox.hold())
                try await stop(running, as: .paused, in: bench)
                try await bench.events.waitUntil { $0.stopped == [.init(.paused, running)] }
            }
            if what == "failed" {
                try await waitUntil("it failed") { try await bench.record(of: other)?.state == .failed }
            }
            #expect(try bench.partial(of: subject)?.isEmpty == false)
            try await stop(subject, as: .cancelled, in: bench)
            try await waitUntil("it is dropped") { try bench.partial(of: subject) == nil }
            if what == "paused" { inbox.release(1) }
            gate.open()
            _ = await report
        }
    }

    @Test func `an inbox with something in it stays open, whatever the engine believes it has to do`() async throws {
        try await withBench(.file(bytes)) { bench in
            let inbox = TransferInbox()
            #expect(inbox.hold())
            inbox.add([try await bench.request(bench.episode())])
            inbox.release(1)
            #expect(await inbox.hasMore())
            // What the engine says that has not looked yet.
            inbox.engineIsIdle()
            #expect(inbox.hold())
            inbox.release(1)
            #expect(inbox.takeAll().count == 1)
            #expect(inbox.hold())
            inbox.release(1)
            inbox.engineIsIdle()
            #expect(!inbox.hold())
            #expect(await !inbox.hasMore())
        }
    }

    /// The store, with what happens to it seen and timed.
    private struct ObservedJournal: TransferJournal {
        let store: CatalogStore
        /// How often the run asked what is stopped.
        var looks = Watched(0)
        /// Whether the user pauses what is published just before that is announced, or cancels it right after; nil for neither.
        var pausesBefore: Bool?
        /// What every so many looks in a row meet, before one that meets nothing.
        var unreadable: (failure: Failure, looks: Int)?

        func commit(_ records: [TransferRecord]) throws { try store.commit(records) }

        func commit(publishing files: [LocalFile]) throws {
            let published = files.map(\.episode)
            if pausesBefore == true { _ = try waiting { [store] in try await store.pause(published) } }
            try store.commit(publishing: files)
            if pausesBefore == false { _ = try waiting { [store] in try await store.cancel(published) } }
        }

        func commit(waiting episodes: [EpisodeIdentity]) throws { try store.commit(waiting: episodes) }

        func commit(begun episodes: [EpisodeIdentity]) throws { try store.commit(begun: episodes) }

        /// Waits on the engine's own thread, as the commits of the store do.
        private func waiting<Value: Sendable>(for work: @escaping @Sendable () async throws -> Value) throws -> Value {
            let (outcome, isDone) = (Watched<Result<Value, any Error>?>(nil), DispatchSemaphore(value: 0))
            Task {
                do {
                    let value = try await work()
                    outcome.update { $0 = .success(value) }
                } catch {
                    outcome.update { $0 = .failure(error) }
                }
                isDone.signal()
            }
            isDone.wait()
            return try #require(outcome.value).get()
        }

        func stoppedTransfers() async throws -> [EpisodeIdentity: TransferState] {
            looks.update { $0 += 1 }
            if let unreadable, !looks.value.isMultiple(of: unreadable.looks + 1) { throw unreadable.failure }
            return try await store.stoppedTransfers()
        }

        func commit(finished files: [LocalFile], failed: [EpisodeIdentity]) throws {
            try store.commit(finished: files, failed: failed)
        }
    }

    @Test(arguments: [(looks: 1000, disposition: Failure.Disposition.stop), (2, .stop), (1000, .retry)])
    func `a store that stays unreadable ends the run, one that is for a moment does not`(
        looks: Int, disposition: Failure.Disposition
    ) async throws {
        let gate = Gate()
        try await withBench(.file(bytes, [.stall(at: 1000, until: gate)])) { bench in
            let failure = Failure(
                .inputOutput, disposition: disposition, what: "the store cannot be read", why: "locking protocol")
            let journal = ObservedJournal(store: bench.store, unreadable: (failure, looks))
            let engine = DownloadEngine(
                transport: bench.transport, journal: journal, library: bench.library.path,
                partialFolder: bench.partialFolder.path, settings: bench.settings, logger: .silent, emit: { _ in })
            let inbox = TransferInbox()
            inbox.add([try await bench.request(bench.episode())])
            async let report = engine.run(inbox)
            if looks == 1000, disposition == .stop {
                // The transfer itself would go on for ever.
                #expect(await report.stop == failure)
            } else {
                try await waitUntil("it has looked often enough") { journal.looks.value > 7 }
                gate.open()
                let ended = await report
                #expect(ended.stop == nil)
                #expect(ended.receipts.count == 1)
            }
            gate.open()
        }
    }

    @Test func `a run that has lost the library asks for nothing more`() async throws {
        let broken = ServerScript { _ in .reply(status: 500) }
        try await withBench(.paths(["/a.mp3": broken, "/b.mp3": .file(bytes)]), jobs: 1) { bench in
            let lost = Failure(
                .temporary, disposition: .stop, what: "this run has lost the library", why: "it slept",
                reason: .takenOver)
            let engine = DownloadEngine(
                transport: bench.transport, journal: bench.store, library: bench.library.path,
                partialFolder: bench.partialFolder.path, settings: bench.settings, logger: .silent,
                // While its first transfer is under way another run takes the library over.
                requireHeld: { [server = bench.server] in if !server.record.requests.isEmpty { throw lost } },
                emit: { _ in })
            let inbox = TransferInbox()
            inbox.add([
                try await bench.request(bench.episode()), try await bench.request(bench.episode(2, at: "/b.mp3")),
            ])
            #expect(await engine.run(inbox).stop == lost)
            #expect(bench.server.record.requests.map(\.path) == ["/a.mp3"])
        }
    }

    @Test(arguments: [true, false])
    func `a plan from before a file was published does not have it fetched again`(isStale: Bool) async throws {
        try await withBench(.file(bytes)) { bench in
            let request = try await bench.request(bench.episode())
            let (inbox, events) = (TransferInbox(), bench.events)
            let engine = bench.engine()
            #expect(inbox.hold())
            inbox.add([request])
            async let report = engine.run(inbox)
            try await events.waitUntil { $0.contains { if case .finished = $0 { true } else { false } } }
            var again = request
            if !isStale {
                again.asOf = .now
                try FileManager.default.removeItem(at: bench.library.appending(path: request.path))
            }
            inbox.add([again])
            inbox.release(1)
            let outcomes = await report.outcomes
            #expect(outcomes.count == (isStale ? 1 : 2))
            #expect(bench.server.record.requests.count == outcomes.count)
            #expect(try bench.file() == bytes)
        }
    }

    @Test(arguments: [true, false])
    func `a transfer that is being published is past being stopped`(isBefore: Bool) async throws {
        try await withBench(.file(bytes)) { bench in
            let episode = bench.episode()
            let request = try await bench.request(episode)
            let journal = ObservedJournal(store: bench.store, pausesBefore: isBefore)
            let report = await bench.run([request], journal: journal)
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(report.left == 0)
            #expect(try bench.file() == bytes)
            #expect(try await bench.recordedFile(of: episode) != nil)
            #expect(try await bench.record(of: episode) == nil)
            #expect(try bench.partialNames() == [])
        }
    }

    private func stop(_ episode: Episode, as state: TransferState, in bench: EngineBench) async throws {
        let count = try await bench.inAnotherProcess { store in
            state == .paused
                ? try await store.pause([episode.identity]) : try await store.cancel([episode.identity])
        }
        #expect(count == 1)
    }
}

/// An event that tells of a stopped transfer.
private struct Stopped: Equatable {
    var state: TransferState
    var episode: EpisodeIdentity

    init(_ state: TransferState, _ episode: EpisodeIdentity) {
        self.state = state
        self.episode = episode
    }

    init(_ state: TransferState, _ episode: Episode) {
        self.init(state, episode.identity)
    }
}

extension [SyncEvent] {
    fileprivate var stopped: [Stopped] {
        compactMap { event in
            switch event {
            case .paused(let episode, _): Stopped(.paused, episode)
            case .cancelled(let episode, _): Stopped(.cancelled, episode)
            default: nil
            }
        }
    }
}
