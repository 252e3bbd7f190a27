import Foundation
import Support
import Testing

extension ProductTests {
    /// What a cron job does in a week, in a minute: each night's last line, exit code, alert and disk.
    @Suite struct WeekOfNights {
        /// The shelf, its server, and the file that alerts are added to.
        private struct Week {
            let bench: Workbench
            let server: MisbehavingServer
            let catalog: Watched<NightCatalog>

            var alertFile: URL { bench.folder.appending(path: "alerts.jsonl") }

            var alerts: [JSONObject] {
                get throws {
                    guard FileManager.default.fileExists(atPath: alertFile.path) else { return [] }
                    return try String(contentsOf: alertFile, encoding: .utf8).split(separator: "\n")
                        .map { try JSONObject($0) }
                }
            }

            /// One run of the cron job, with the alerts that it sent.
            func night(
                _ more: String...
            ) async throws -> (result: ProductRunner.Result, summary: JSONObject, alerts: [JSONObject]) {
                let before = try alerts.count
                let result = try await ProductRunner.run(
                    ["mirror", "--json", "--library", "L"] + more, environment: bench.configured, in: bench.folder)
                return (result, try result.summary(), Array(try alerts.dropFirst(before)))
            }

            func count() throws -> Int { try bench.files().count }
        }

        private func withWeek(_ body: (Week) async throws -> Void) async throws {
            var catalog = NightCatalog()
            catalog.books["1"] = (1...5).map { NightCatalog.item("1", $0) }
            catalog.books["2"] = (1...3).map { NightCatalog.item("2", $0) }
            // One a day, the newest half a day old.
            catalog.feed = (1...10).reversed().map { (NightCatalog.item("serial", $0), 10.5 - Double($0)) }
            let watched = Watched(catalog)
            let script = ServerScript { request in watched.update { $0.answer(request) } }
            try await withWorkbench { bench in
                try await withServer(script) { server in
                    let week = Week(bench: bench, server: server, catalog: watched)
                    try bench.configure(
                        """
                        downloads: { retries: 1, min-free-space: 1M }
                        on-catalog-removal: report
                        notify: { exec: "cat >> '\(week.alertFile.path)'" }
                        sources:
                          cat:
                            type: book-resource
                            url: http://127.0.0.1:\(server.port)\(NightCatalog.listPath)
                            query: { token: first }
                            allow-private-addresses: true
                        subscriptions:
                          - book: cat:1
                            title: One
                          - book: cat:2
                            title: Two
                          - book: http://127.0.0.1:\(server.port)\(NightCatalog.feedPath)
                        """)
                    try await body(week)
                }
            }
        }

        @Test func `a week of nights, each with its line, its exit code and its alert`() async throws {
            try await withWeek { week in
                try await firstNights(week)
                try await removalAndOutage(week)
                try await recovery(week)
                try await badToken(week)
                try await expectRecords(of: week)
            }
        }

        #if os(Linux)
            @Test(.needsMounting)
            func `a night with a full disk, and one with room again`() async throws {
                try await withWeek { week in
                    try FileManager.default.createDirectory(at: week.bench.library, withIntermediateDirectories: true)
                    let disk = try SmallDisk.mount(at: week.bench.library.path, kilobytes: 20_000)
                    defer { disk.unmount() }
                    try await firstNights(week)
                    try await fullDisk(week, disk)
                }
            }
        #endif

        /// Everything is new; nothing is; one episode is new and another got a better name.
        private func firstNights(_ week: Week) async throws {
            let first = try await week.night()
            #expect(first.result.exitCode == 0, "\(first.result.errors)")
            #expect(first.result.errorLines.last?.hasPrefix("3 books: 18 fetched (") == true, "\(first.result.errors)")
            #expect(first.alerts.map { $0.number("fetched") } == [18])
            #expect(first.alerts.first?.objects("fetched_episodes").count == 18)
            #expect(first.alerts.first?["command"] == "mirror")
            #expect(try week.count() == 18)

            let requests = week.server.record.requests.count
            let quiet = try await week.bench.run("mirror", "-q", environment: week.bench.configured)
            #expect(quiet.exitCode == 0)
            #expect(quiet.output + quiet.errors == "", "silence when nothing happened")
            #expect(try week.alerts.count == 1)
            let asked = week.server.record.requests.dropFirst(requests)
            #expect(asked.allSatisfy { !$0.path.hasPrefix("/audio/") })
            let feed = asked.filter { $0.path == NightCatalog.feedPath }
            #expect(feed.count == 1 && feed.first?.header("If-None-Match") != nil, "one conditional request")

            week.catalog.update { catalog in
                catalog.books["1"]?.append(NightCatalog.item("1", 6))
                catalog.books["2"]?[1].name = "The second episode"
            }
            let third = try await week.night()
            #expect(third.result.exitCode == 0)
            #expect(third.summary.number("fetched") == 1)
            #expect(third.summary.number("renamed") == 1)
            #expect(third.alerts.map { $0.number("fetched") } == [1])
            #expect(try week.count() == 19)
            #expect(try week.bench.files().keys.contains { $0.contains("The second episode") })
        }

        private func removalAndOutage(_ week: Week) async throws {
            // The last half week of the feed goes: what is left of it is overdue.
            week.catalog.update { $0.feed.removeFirst(3) }
            let removal = try await week.night()
            #expect(removal.result.exitCode == 0)
            #expect(
                removal.result.errors.contains("no longer lists 3 episodes (8 Episode 8, 9 Episode 9, 10 Episode 10)"))
            #expect(removal.alerts.map { $0.objects("overdue").map { $0["title"] } } == [["Serial"]])
            #expect(try week.count() == 19, "what is on disk is kept")
            let after = try await week.night()
            #expect(!after.result.errors.contains("no longer lists"), "told once")
            #expect(after.alerts.isEmpty, "told once")

            week.catalog.update { $0.mood = .down }
            let outage = try await week.night()
            #expect(outage.result.exitCode == 69)
            #expect(outage.summary.number("failed") == 3)
            #expect(outage.result.errorLines.filter { $0.hasPrefix("failed: ") }.count == 1, "\(outage.result.errors)")
            #expect(outage.result.errors.contains("the catalogs of 3 books cannot be fetched from http://127.0.0.1:"))
            #expect(outage.alerts.map { $0.objects("outages").count } == [1])
            let asked = week.server.record.requests.count
            let second = try await week.night()
            #expect(second.result.exitCode == 69)
            #expect(second.result.errors.contains(", 2 runs"), "\(second.result.errors)")
            #expect(second.alerts.isEmpty, "an outage is told when it begins and when it is over")
            #expect(week.server.record.requests.count - asked == 2, "one book is asked for, with its retry")
            #expect(try week.count() == 19)
        }

        /// The server is back and has little time; an episode is lost, and waits longer each time.
        private func recovery(_ week: Week) async throws {
            week.catalog.update { catalog in
                catalog.mood = .well
                catalog.books["1"]?.append(NightCatalog.item("1", 7))
                catalog.books["2"]?.append(NightCatalog.item("2", 4))
                catalog.busy = ["/audio/1/7.mp3"]
                catalog.lost = ["/audio/2/4.mp3"]
            }
            let back = try await week.night()
            #expect(back.result.exitCode == 75, "\(back.result.errors)")
            #expect(back.summary.number("fetched") == 1)
            #expect(back.summary.number("failed") == 1)
            #expect(try #require(back.summary.double("seconds")) >= 1, "it waits as long as it is asked to")
            #expect(back.alerts.map { $0.objects("recovered").count } == [1])
            #expect(back.alerts.first?.number("newly_failed") == 1)
            #expect(try week.count() == 20)

            for _ in 1...2 {
                let again = try await week.night()
                #expect(again.result.exitCode == 75)
                #expect(again.alerts.isEmpty, "a failure is told when it is new")
            }
            let lost = week.server.requests(path: "/audio/2/4.mp3").count
            let waiting = try await week.bench.run("mirror", "-q", environment: week.bench.configured)
            #expect(waiting.exitCode == 75, "what is missing makes the run one that is not done")
            #expect(waiting.output + waiting.errors == "", "what was told already is not told every night")
            #expect(week.server.requests(path: "/audio/2/4.mp3").count == lost)
            let plan = try await week.bench.run("plan", "cat:2", environment: week.bench.configured)
            #expect(plan.output.contains("failed 3 times, next try"))
            let forced = try await week.night("--force")
            #expect(forced.result.exitCode == 75)
            #expect(week.server.requests(path: "/audio/2/4.mp3").count > lost)
            week.catalog.update { $0.lost = [] }
            #expect(try await week.night("--force").summary.number("fetched") == 1)
            #expect(try week.count() == 21)
        }

        #if os(Linux)
            private func fullDisk(_ week: Week, _ disk: SmallDisk) async throws {
                week.catalog.update { $0.books["1"]?.append(NightCatalog.item("1", 8, bytes: 900_000)) }
                let used = try 20_000 - disk.free() / 1024
                try disk.resize(kilobytes: used + 900)
                let full = try await week.night()
                #expect(full.result.exitCode == 74, "\(full.result.errors)")
                #expect(full.alerts.map { $0.objects("outages").map { $0["subject"] } } == [["library"]])
                #expect(try await week.night().alerts.isEmpty)
                #expect(try week.count() == 19)
                try disk.resize(kilobytes: 20_000)
                let room = try await week.night()
                #expect(room.result.exitCode == 0, "\(room.result.errors)")
                #expect(room.alerts.map { $0.objects("recovered").map { $0["subject"] } } == [["library"]])
                #expect(try week.count() == 20)
            }
        #endif

        private func badToken(_ week: Week) async throws {
            let before = try week.count()
            week.catalog.update { catalog in
                catalog.token = "second"
                catalog.feed.insert((NightCatalog.item("serial", 11), 0.1), at: 0)
            }
            let rejected = try await week.night()
            #expect(rejected.result.exitCode == 77)
            #expect(rejected.summary.number("failed") == 2)
            #expect(rejected.summary.number("fetched") == 1, "one failed source never stops the others")
            #expect(rejected.result.errorLines.filter { $0.hasPrefix("failed: ") }.count == 1)
            #expect(rejected.alerts.map { $0.objects("outages").map { $0["subject"] } } == [["source cat"]])
            #expect(rejected.result.errorLines.last?.contains("1 fetched") == true)
            #expect(rejected.result.errorLines.last?.contains("2 catalogs not read") == true)
            #expect(try week.count() == before + 1)
        }

        private func expectRecords(of week: Week) async throws {
            let runs = try JSONObject.list(
                try await week.bench.run("runs", "--json", "--last", "100", environment: week.bench.configured).output)
            #expect(!runs.isEmpty && runs.allSatisfy { $0["state"] == "ended" })
            #expect(Array(runs.compactMap { $0.number("exit_code") }.prefix(7)) == [0, 0, 0, 0, 0, 69, 69])
            #expect(runs.last?.number("exit_code") == 77)
            let fetched = runs.compactMap { $0.number("fetched") }.reduce(0, +)
            #expect(try week.count() == fetched, "no episode was fetched twice, and none is missing")
        }
    }
}
