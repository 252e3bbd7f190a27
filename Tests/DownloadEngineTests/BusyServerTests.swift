import BookModel
import CatalogStore
import Foundation
import Support
import Testing
import Transport

@testable import DownloadEngine

/// Case 25 of the download cases: servers that have too much to do.
@Suite(.limitedConcurrency) struct BusyServerTests {
    private let bytes = sampleMP3(bytes: 20_000)

    private static func date(in seconds: Double) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date(timeIntervalSinceNow: seconds))
    }

    enum Wish: CaseIterable {
        case seconds, date, none, nonsense

        /// A date has no fractions: what is asked for five seconds ahead is more than four.
        var field: String? {
            switch self {
            case .seconds: "4"
            case .date: BusyServerTests.date(in: 5)
            case .none: nil
            case .nonsense: "soon"
            }
        }

        /// For how long the server is left alone, less what clocks differ by.
        var hold: Duration {
            switch self {
            case .seconds, .date: .milliseconds(3950)
            case .none, .nonsense: .milliseconds(950)
            }
        }
    }

    @Test(arguments: [429, 503], Wish.allCases)
    func `case 25: a busy server is left alone by all its transfers, and no other server is`(
        status: Int, wish: Wish
    ) async throws {
        let moments = Watched<[(path: String, at: ContinuousClock.Instant)]>([])
        let bytes = bytes
        let script = ServerScript { request in
            moments.update { $0.append((request.path, .now)) }
            if request.path == "/free.mp3" { return ServedFile(Array(bytes.prefix(2000))).answer(to: request) }
            guard request.path == "/a.mp3", request.number == 0 else { return ServedFile(bytes).answer(to: request) }
            var reply = Reply.text("busy", type: "text/plain", status: status)
            reply.setHeader("Retry-After", wish.field)
            return reply
        }
        try await withBench(script, jobs: 2, jobsPerHost: 1, firstWait: 0.5) { bench in
            try await withServer(script) { free in
                var requests = [try await bench.request(bench.episode())]
                requests.append(try await bench.request(bench.episode(2, at: "/b.mp3")))
                for section in 3...5 {
                    var episode = bench.episode(section)
                    episode.address = free.address("/free.mp3")
                    requests.append(try await bench.request(episode))
                }
                let report = await bench.run(requests)
                #expect(report.receipts.count == 5, "\(report.sentences)")
                let refused = try #require(moments.value.first { $0.path == "/a.mp3" }).at
                let later = moments.value.filter { $0.path != "/free.mp3" }.dropFirst()
                #expect(later.map(\.path).sorted() == ["/a.mp3", "/b.mp3"])
                let again = try #require(later.first).at
                #expect(again - refused >= wish.hold)
                let free = moments.value.filter { $0.path == "/free.mp3" }.map(\.at)
                #expect(free.count == 3)
                // On a machine that does much else a request may come late; one that was held comes this late after another.
                #expect(zip(free, free.dropFirst()).allSatisfy { $1 < again || $1 - $0 < wish.hold })
            }
        }
    }

    @Test(arguments: [-315_360_000, 315_360_000] as [Double])
    func `case 43: a date to come back at is meant by the server's own clock, ten years off`(error: Double) async throws
    {
        let moments = Watched<[ContinuousClock.Instant]>([])
        let bytes = bytes
        let script = ServerScript { request in
            moments.update { $0.append(.now) }
            guard request.number == 0 else { return ServedFile(bytes).answer(to: request) }
            var reply = Reply.text("busy", type: "text/plain", status: 503)
            reply.setHeader("Date", Self.date(in: error))
            reply.setHeader("Retry-After", Self.date(in: error + 2))
            return reply
        }
        try await withBench(script, limits: RunLimits(seconds: 60)) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            let times = moments.value
            #expect(times.count == 2 && times[1] - times[0] >= .milliseconds(950))
        }
    }

    @Test(arguments: [("7200", 7200.0), ("86400", 72_000), ("99999999999999999999", 72_000)])
    func `case 25: a server that wants to be left alone for longer than a run waits is not asked too early`(
        _ field: String, _ seconds: Double
    ) async throws {
        let busy = Reply.text("busy", type: "text/plain", status: 429, headers: ["Retry-After": field])
        let bytes = bytes
        let script = ServerScript { $0.path == "/a.mp3" ? busy : ServedFile(bytes).answer(to: $0) }
        try await withBench(script, jobs: 1) { bench in
            let (first, second) = (bench.episode(), bench.episode(2, at: "/b.mp3"))
            let report = try await bench.fetch(first, second)
            #expect(report.failures.map(\.episode) == [first.identity] && report.left == 1, "\(report.sentences)")
            #expect(bench.server.record.requests.map(\.path) == ["/a.mp3"])
            for episode in [first, second] {
                let record = try #require(try await bench.record(of: episode))
                #expect(record.state == .failed && record.waits(at: Date()))
                #expect(try #require(record.nextTryAt).timeIntervalSinceNow > seconds - 600)
            }
            #expect(try await bench.record(of: second)?.attempts == 0)
        }
    }

    @Test func `case 25: what the last refusal of a run asks for holds for the next run`() async throws {
        let script = ServerScript { request in
            .text("busy", status: 429, headers: request.number == 0 ? [:] : ["Retry-After": "200"])
        }
        try await withBench(script, retries: 1) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.failures.count == 1 && bench.server.record.requests.count == 2, "\(report.sentences)")
            let record = try #require(try await bench.record(of: bench.episode()))
            #expect(record.waits(at: Date()) && record.attempts == 1)
        }
    }

    @Test func `case 25: what a server beyond a redirect asks for concerns no other book`() async throws {
        let bytes = bytes
        let busy = Reply.text("busy", type: "text/plain", status: 429, headers: ["Retry-After": "7200"])
        try await withServer(.always(busy)) { host in
            let target = host.url("/a.mp3")
            let script = ServerScript { request in
                request.path == "/a.mp3"
                    ? .text("", status: 302, headers: ["Location": target]) : ServedFile(bytes).answer(to: request)
            }
            try await withBench(script, jobs: 1) { bench in
                let other = BookIdentity(source: EngineBench.book.source, id: "another")
                let free = TransferRequest(
                    episode: .sample(3, book: other, address: bench.server.url("/c.mp3")), path: "Other/3.mp3")
                _ = try await bench.store.merge([free.episode], startingAt: 0, of: other)
                let first = try await bench.request(bench.episode())
                let second = try await bench.request(bench.episode(2, at: "/b.mp3"))
                let report = await bench.run([first, second, free])
                #expect(report.receipts.map(\.section) == [3] && report.left == 1, "\(report.sentences)")
                #expect(host.record.requests.count == 1)
            }
        }
    }

    @Test func `case 25: a time limit ends the wait that a long wish makes`() async throws {
        let busy = Reply.text("busy", type: "text/plain", status: 503, headers: ["Retry-After": "300"])
        try await withBench(.always(busy), limits: RunLimits(seconds: 0.5)) { bench in
            let report = try await bench.fetch(bench.episode(), bench.episode(2, at: "/b.mp3"))
            #expect(report.failures.isEmpty)
            #expect(report.left == 2)
            // Both may have been under way when the first one was refused; none came after that.
            #expect(bench.server.record.requests.count <= 2)
        }
    }

    @Test func `case 25: transfers that are refused together make one wait, and each time after it a longer one`()
        async throws
    {
        let requests = (1...4).map { TransferRequest(episode: .sample($0, address: "http://kting.info/a"), path: "a") }
        func hold(_ place: Int, asked: Double? = nil, now: Double, in run: inout EngineRun) -> Double {
            run.holdServer(of: place, because: Self.busy(asked: asked), now: now)
        }
        try await withEngineRun(of: requests) { run in
            let gaps = (0..<4).map { hold($0, now: 0, in: &run) }
            #expect(gaps == [1, 1, 1, 1])
            let asked = hold(0, asked: 7, now: 0, in: &run)
            #expect(asked == 7)
        }
        try await withEngineRun(of: requests) { run in
            var gaps = (0..<10).map { hold(0, now: Double($0) * 1000, in: &run) }
            #expect(gaps == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300])
            gaps = [hold(0, asked: 0, now: 20_000, in: &run), hold(0, now: 21_000, in: &run)]
            #expect(gaps == [0, 1])
        }
    }

    /// The state of a run that these came to, and that nobody does anything of.
    private func withEngineRun<Value>(
        of requests: [TransferRequest], _ body: (inout EngineRun) throws -> Value
    ) async throws -> Value {
        var value: Value?
        try await withBench(.always(.text("")), retries: 5, firstWait: 0.5, longestWait: 30) { bench in
            var run = EngineRun(bench.engine().tools)
            #expect(run.add(requests, stopped: []).count == requests.count)
            value = try body(&run)
        }
        return try #require(value)
    }

    private static func busy(asked: Double? = nil, server: String? = nil) -> AttemptResult.RetryReason {
        var reason = AttemptResult.RetryReason(why: "busy", after: asked)
        reason.isServerBusy = true
        reason.server = server
        return reason
    }

    /// Starts 100 transfers of one server, by a clock of its own. Those of no duration are at their end at once.
    /// - Parameters:
    ///   - failing: their places, from 0.
    ///   - server: the one beyond a redirect that fails; nil for the transfers' own. The failing ones are a book then.
    /// - Returns: when the last of the others was started.
    private func lastStart(failing: Set<Int>, behindRedirect server: String? = nil) async throws -> Double {
        let (own, retry) = ("http://kting.info", RetryPolicy())
        let other = BookIdentity(source: "demo", id: "other")
        let requests = (0..<100).map { place in
            let book = server != nil && failing.contains(place) ? other : EngineBench.book
            return TransferRequest(episode: .sample(place + 1, book: book, address: own + "/a"), path: "a")
        }
        return try await withEngineRun(of: requests) { run in
            var (now, last, left) = (0.0, 0.0, 100 - failing.count)
            var failures: [Int: Int] = [:]
            while left > 0 {
                guard let place = run.schedule.startNext(now: now) else {
                    let wake = run.schedule.nextWake(now: now)
                    now = try #require(wake)
                    continue
                }
                run.schedule.end(place)
                var result = AttemptResult(ending: .stopped, record: run.transfers[place].record)
                guard failing.contains(place) else {
                    result.respondingServer = own
                    run.recordResponses(to: result, at: place)
                    (last, left) = (now, left - 1)
                    continue
                }
                let reason = Self.busy(server: server)
                result.ending = .retry(reason)
                run.recordResponses(to: result, at: place)
                let gap = run.holdServer(of: place, because: reason, now: now)
                #expect(run.troubles[server ?? own] ?? 0 <= retry.retries || server != nil, "the server is given up")
                failures[place, default: 0] += 1
                guard let wait = retry.wait(afterFailures: failures[place] ?? 0, random: 0.9) else { continue }
                run.schedule.postpone(place, until: now + max(wait, 1.1 * gap))
            }
            return last
        }
    }

    @Test(arguments: [[0], [99], [0, 1, 2, 3], [3, 20, 21, 60], Array(stride(from: 0, to: 100, by: 10))] as [[Int]])
    func `case 25a: files that a server cannot give do not slow it down for the others`(failing: [Int]) async throws {
        #expect(try await lastStart(failing: Set(failing)) < 60)
    }

    @Test(arguments: [[0], Array(0..<50)] as [[Int]])
    func `case 25a: a server beyond a redirect does not slow down what is not behind it`(failing: [Int]) async throws {
        #expect(try await lastStart(failing: Set(failing), behindRedirect: "http://cdn.example") == 0)
    }

    private func fetch(
        _ count: Int, _ script: ServerScript, _ body: (EngineBench, EngineReport) async throws -> Void
    ) async throws {
        try await withBench(script, retries: 3) { bench in
            var requests: [TransferRequest] = []
            for section in 1...count {
                requests.append(try await bench.request(bench.episode(section, at: "/\(section).mp3")))
            }
            try await body(bench, await bench.run(requests))
        }
    }

    @Test func `case 25a: a server that closes every connection is given up as a whole, and not file by file`()
        async throws
    {
        try await fetch(20, .always(.closeBeforeAnswer)) { bench, report in
            // Four at once, then one after each wait.
            #expect(bench.server.record.requests.count <= 7)
            #expect(report.failures.count == 1 && report.left == 19, "\(report.sentences)")
            #expect(report.sentences.first?.contains("the connection was cut, 4 times in a row") == true)
            let attempts = try await bench.record(of: bench.episode(20, at: "/20.mp3"))?.attempts
            #expect(attempts == 0)
        }
    }

    @Test(arguments: [Reply.closeBeforeAnswer, .text("", status: 429)])
    func `case 25a: a server that refuses for a while is asked by one transfer until it answers`(refusal: Reply)
        async throws
    {
        let count = Watched(0)
        let bytes = bytes
        let script = ServerScript { request in
            let number = count.update { number in
                number += 1
                return number
            }
            return (9...11).contains(number) ? refusal : ServedFile(bytes).answer(to: request)
        }
        try await fetch(20, script) { bench, report in
            #expect(report.receipts.count == 20, "\(report.sentences)")
            #expect(bench.server.record.requests.count == 23)
        }
    }

    @Test func `case 25a: one file that a server cannot give is not the server's trouble`() async throws {
        let bytes = bytes
        let script = ServerScript { $0.path == "/1.mp3" ? .closeBeforeAnswer : ServedFile(bytes).answer(to: $0) }
        try await fetch(12, script) { _, report in
            #expect(report.receipts.count == 11)
            #expect(report.failures.map(\.section) == [1])
        }
    }

    @Test func `case 25a: after trouble one transfer starts, and others at intervals that become shorter`() {
        var schedule = TransferSchedule(jobs: 4, jobsPerHost: 4)
        for _ in 1...4 { schedule.add(for: "http://h", rank: 0) }
        #expect(schedule.startNext(now: 0) == 0)
        schedule.slowDown(serverOf: 0, to: 2, isRateLimit: true)
        schedule.holdServer(of: 0, until: 5)
        schedule.end(0)
        schedule.postpone(0, until: 5.5)
        let (early, probe, second) = (
            schedule.startNext(now: 4), schedule.startNext(now: 5), schedule.startNext(now: 9)
        )
        #expect(early == nil && probe == 1 && second == nil)
        schedule.serverAnswered(1)
        let next = schedule.startNext(now: 9)
        let (tooEarly, wake, last) = (
            schedule.startNext(now: 10.9), schedule.nextWake(now: 10.9), schedule.startNext(now: 11)
        )
        #expect(next == 0 && tooEarly == nil && last == 2)
        #expect(wake.map { $0 > 10.9 && $0 < 11 } == true)
    }
}
