import BookSync
import Foundation
import Support
import Testing

extension ForeignClientTests {
    /// A shelf that stays up for a week: two users on three screens, a podcast app, a cron job beside the server, a catalog that
    /// fails now and then, and a clock that makes the nights short.
    @Suite(
        .full,
        .needs("chromium", "chromedriver"), .needsCompiler)
    struct ServedWeek {
        private enum User: String, CaseIterable {
            case lin = "小林"
            case kim = "Kim"

            var password: String { "password of \(rawValue)" }
        }

        /// What happens to the server at the end of a day.
        private enum Incident {
            case none
            case restart
            case kill
            /// The machine sleeps, with the server stopped in the middle of whatever it does.
            case sleep
        }

        private static let incidents: [Incident] = [.none, .restart, .kill, .sleep, .none, .kill, .sleep]
        /// On which nights the catalog does not answer.
        private static let badNights = [2, 5]

        private final class Week {
            let bench: Workbench
            let clock: MovedClock
            let catalog: Watched<NightCatalog>
            let audio: [[UInt8]]
            var hours = 0.0
            var cookies: [User: String] = [:]
            /// The furthest that each user was in each episode, by what the server says.
            var furthest: [User: [String: Double]] = [:]
            var feedTag: String?
            var memory: [Int] = []

            init(_ bench: Workbench, _ clock: MovedClock, _ catalog: Watched<NightCatalog>, _ audio: [[UInt8]]) {
                (self.bench, self.clock, self.catalog, self.audio) = (bench, clock, catalog, audio)
            }

            var environment: [String: String] { bench.configured.merging(clock.environment) { $1 } }

            func pass(_ hours: Double) throws {
                self.hours += hours
                try clock.move(to: self.hours)
            }

            /// Where a user is in an episode, by the server; it never goes back, but for the part of a frame by which a browser's clock
            /// may be ahead of what is heard.
            @discardableResult
            func position(_ user: User, _ episode: Int, _ shelf: ServedShelf) async throws -> Double {
                let answer = try await shelf.send(
                    "/api/v1/positions/cat/1/1\(episode)", ["Cookie: \(cookies[user] ?? "")"])
                try #require(answer.status == 200)
                let seconds = try JSONObject(answer.text).double("seconds") ?? -1
                let before = furthest[user, default: [:]]["\(episode)", default: 0]
                #expect(seconds >= before - 0.05, "\(user) was at \(before) s of \(episode), and is at \(seconds) s")
                furthest[user, default: [:]]["\(episode)"] = max(before, seconds)
                return seconds
            }
        }

        private static func logIn(_ user: User, in browser: Browser, _ shelf: ServedShelf) async throws {
            try await browser.open("\(shelf.address)/books/cat/1")
            try await browser.type(user.rawValue, into: "#name")
            try await browser.type(user.password, into: "#password")
            try await browser.click(".login .button")
            try await browser.wait(until: "document.querySelector('[data-row][data-id]') !== null")
            let _: Bool = try await browser.evaluate(
                "(document.addEventListener('visibilitychange', () => { window.wasHidden = true }), true)")
        }

        /// Listens on from where the user is, for some seconds of the audio, and pauses.
        private static func listen(
            _ user: User, to episode: Int, in browser: Browser, _ week: Week, _ shelf: ServedShelf
        ) async throws {
            let before = try await week.position(user, episode, shelf)
            let isThere: Bool = try await browser.evaluate(
                "document.getElementById('audio').src.includes('/media/cat/1/1\(episode).')")
            try await browser.click(isThere ? "[data-do=toggle]" : "[data-id='1\(episode)'] .play")
            // Pressing play asks the server where the other screen stopped.
            try await browser.wait(until: "document.getElementById('audio').currentTime >= \(before)")
            try await browser.wait(
                until: "document.getElementById('audio').currentTime > 0 && !document.getElementById('audio').paused")
            let target = before + 3
            let _: Bool = try await browser.evaluate("(document.getElementById('audio').currentTime = \(target), true)")
            try await browser.wait(until: "document.getElementById('audio').currentTime > \(target)")
            try await browser.click("[data-do=toggle]")
            try await browser.wait(until: "document.getElementById('audio').paused")
            try await waitUntil("what was heard is recorded") {
                try await week.position(user, episode, shelf) > target
            }
            #expect(try await browser.evaluate("document.getElementById('player-elsewhere').hidden"))
        }

        /// What an app does: asks for the feed, and takes what is new of it.
        private static func app(_ week: Week, _ shelf: ServedShelf) async throws {
            let page = try await shelf.send("/books/cat/1", ["Cookie: \(week.cookies[.lin] ?? "")"]).text
            let key = try #require(page.firstMatch(of: /\/apps\/([A-Za-z0-9_-]{27})\/feeds/)).output.1
            let feed = "/apps/\(key)/feeds/cat/1.xml"
            let answer = try await shelf.send(feed, week.feedTag.map { ["If-None-Match: \($0)"] } ?? [])
            #expect(answer.status == 200 || answer.status == 304)
            week.feedTag = answer.fields["etag"]
            for found in answer.text.matches(of: /\/media\/cat\/1\/1(\d+)\.mp3/) {
                let audio = try await shelf.send("/apps/\(key)/media/cat/1/1\(found.output.1).mp3")
                #expect(audio.body == week.audio[(Int(found.output.1) ?? 1) - 1])
            }
        }

        /// The cron job, in a process of its own.
        private static func night(_ number: Int, _ week: Week) async throws {
            let isBad = badNights.contains(number)
            week.catalog.update { catalog in
                catalog.mood = isBad ? .down : .well
                let next = (catalog.books["1"]?.count ?? 0) + 1
                guard !isBad else { return }
                catalog.books["1"]?.append(.init(number: next, name: "Episode \(next)", bytes: week.audio[next - 1]))
                catalog.busy = ["/audio/1/\(next).mp3"]
            }
            let run = try await ProductRunner.run(
                ["mirror", "--library", "L", "--wait", "60s"], environment: week.environment, in: week.bench.folder)
            #expect(run.exitCode == (isBad ? 69 : 0), "night \(number): \(run.errors)")
        }

        private static func day(
            _ number: Int, _ screens: (desktop: Browser, phone: Browser, tablet: Browser), _ week: Week,
            _ shelf: ServedShelf
        ) async throws {
            let (desktop, phone, tablet) = screens
            try await listen(.lin, to: 1, in: desktop, week, shelf)
            try week.pass(2)
            try await listen(.kim, to: 2, in: tablet, week, shelf)
            try await listen(.lin, to: 1, in: phone, week, shelf)
            try await app(week, shelf)
            try week.pass(6)
            // The tabs are left for the night, in which the server has nobody but the cron job.
            try await desktop.hidden {
                try await phone.hidden {
                    try await tablet.hidden {
                        try week.pass(16)
                        try await night(number, week)
                        guard incidents[number - 1] == .sleep else { return }
                        shelf.product.send(signal: SIGSTOP)
                        try week.pass(9)
                        shelf.product.send(signal: SIGCONT)
                    }
                }
            }
            // In the morning they show what came, without being loaded again.
            let count = week.catalog.value.books["1"]?.count ?? 0
            for screen in [desktop, phone, tablet] {
                #expect(try await screen.evaluate("window.wasHidden === true"))
                try await screen.wait(
                    until: "document.querySelectorAll('[data-row][data-id] .play').length >= \(count)")
            }
            for user in User.allCases { try await week.position(user, user == .lin ? 1 : 2, shelf) }
            let status = try String(
                contentsOfFile: "/proc/\(shelf.product.processIdentifier)/status", encoding: .utf8)
            week.memory.append(Int(try #require(status.firstMatch(of: /VmRSS:\s*(\d+)/)).output.1) ?? .max)
        }

        @Test(.firstInLine)
        func `for a week nobody loses a place, no page stays stale, and the server lives`() async throws {
            try await withWorkbench { bench in
                // Real audio.
                #expect(try await bench.run("fetch", "30776/1-12", "-q").exitCode == 0)
                let audio = try bench.files().filter { $0.key.hasSuffix(".mp3") }.sorted { $0.key < $1.key }
                    .map { Array(try Data(contentsOf: $0.value)) }
                try bench.deleteLibrary()
                var catalog = NightCatalog()
                catalog.books["1"] = (1...3).map { .init(number: $0, name: "Episode \($0)", bytes: audio[$0 - 1]) }
                let watched = Watched(catalog)
                try await withServer(ServerScript { request in watched.update { $0.answer(request) } }) { server in
                    try bench.configure(
                        """
                        downloads: { retries: 1, min-free-space: 1M }
                        sources:
                          cat:
                            type: book-resource
                            url: http://127.0.0.1:\(server.port)\(NightCatalog.listPath)
                            query: { token: first }
                            allow-private-addresses: true
                        subscriptions: [{ book: "cat:1" }]
                        """)
                    let week = Week(bench, try await MovedClock.make(in: bench.folder), watched, audio)
                    try await Self.live(week)
                }
            }
        }

        private static func live(_ week: Week) async throws {
            let bench = week.bench
            let first = try await bench.run("mirror", environment: week.environment)
            #expect(first.exitCode == 0, "\(first.errors)")
            for user in User.allCases {
                let added = try await bench.shell(
                    "echo '\(user.password)' | $BOOKSYNC serve --add-user '\(user.rawValue)' --library L")
                #expect(added.exitCode == 0, "\(added.errors)")
            }
            try await Browser.run(.init()) { desktop in
                try await Browser.run(.init(languages: "zh-CN", width: 390, height: 844)) { phone in
                    try await Browser.run(.init(width: 834, height: 1112, isDark: true)) { tablet in
                        var (port, day) = (0, 1)
                        while day <= 7 {
                            try await bench.serve(port: port, environment: week.environment) { shelf in
                                if port == 0 {
                                    for user in User.allCases {
                                        week.cookies[user] = try await shelf.logIn(user.password, as: user.rawValue)
                                            .cookie
                                    }
                                    try await logIn(.lin, in: desktop, shelf)
                                    try await logIn(.lin, in: phone, shelf)
                                    try await logIn(.kim, in: tablet, shelf)
                                    port = shelf.port
                                }
                                var isOver = false
                                while day <= 7, !isOver {
                                    try await Self.day(day, (desktop, phone, tablet), week, shelf)
                                    switch incidents[day - 1] {
                                    case .none, .sleep: break
                                    case .restart:
                                        shelf.product.send(signal: SIGTERM)
                                        #expect(try await shelf.product.result().exitCode == 143)
                                        isOver = true
                                    case .kill:
                                        shelf.product.send(signal: SIGKILL)
                                        #expect(try await shelf.product.result().signal == SIGKILL)
                                        isOver = true
                                    }
                                    day += 1
                                }
                            }
                        }
                    }
                }
            }
            // Kilobytes: of a debug build, with all that three screens and an app asked for.
            #expect(week.memory.count == 7 && week.memory.max() ?? .max < 120 << 10, "\(week.memory)")
        }
    }
}
