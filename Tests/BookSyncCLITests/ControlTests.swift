import Foundation
import Support
import Testing

extension ProductTests {
    /// What one process says to the transfers of another.
    @Suite struct Control {
        @Test func `pause, cancel and remove are obeyed by a run of another process while it goes on`() async throws {
            try await withWorkbench { bench in
                let paced = ["BOOKSYNC_DEMO_PACE": "2000"]
                try await bench.start("fetch", "40111", "--json", "--jobs", "4", environment: paced) { run in
                    for section in 1...4 { try await run.waitForProgress(of: section) }

                    // Others see it at the run's next look, four times a second.
                    try await waitUntil("four are shown as downloading") {
                        try await bench.run("queue").output.components(separatedBy: "downloading").count == 5
                    }
                    let table = try await bench.run("queue")
                    #expect(table.exitCode == 0 && table.errors == "")
                    #expect(table.outputLines.count == 7)
                    #expect(table.output.contains("第001集_夜航船") && table.output.contains("downloading"))
                    let queue = try JSONObject.list(try await bench.run("queue", "--json").output)
                    #expect(queue.map { $0["state"] } == Self.states(downloading: 4, waiting: 2))
                    #expect(queue.compactMap { $0.number("section") } == [1, 2, 3, 4, 5, 6])
                    #expect(queue.prefix(4).allSatisfy { ($0.number("bytes_done") ?? 0) > 0 })

                    try await expectObeyed(["pause", "40111/1"], "1 episode paused", run, "paused", 1, in: bench)
                    try await expectObeyed(
                        ["cancel", "40111/2"], "1 episode cancelled", run, "cancelled", 2, in: bench)
                    try await expectObeyed(["remove", "40111/3"], "1 episode removed", run, "cancelled", 3, in: bench)
                    // The fourth goes on, and so do those that waited.
                    try await run.waitForProgress(of: 5)
                    run.send(signal: SIGINT)
                    let result = try await run.result()
                    #expect(result.exitCode == 130)
                    #expect(try result.summary().number("failed") == 0)
                }
                let paused = try await state(of: 1, in: bench)
                #expect(paused["state"] == "paused" && paused.number("bytes_done") ?? 0 > 0)
                #expect(try await state(of: 2, in: bench)["state"] == "cancelled")
                #expect(try await state(of: 2, in: bench).number("bytes_done") == 0)
                #expect(try await state(of: 3, in: bench)["state"] == "removed")

                let next = try await bench.run("fetch", "40111", "--json")
                #expect(next.exitCode == 0)
                #expect(try next.finishedSections() == [2, 4, 5, 6])
                #expect(try await state(of: 1, in: bench)["state"] == "paused")

                let resumed = try await bench.run("resume", "--all")
                #expect(resumed.exitCode == 0)
                #expect(resumed.errors == "1 episode resumed\n")
                let last = try await bench.run("fetch", "40111", "--json")
                #expect(try last.finishedSections() == [1])
                #expect(try last.summary().number("resumed") == 1)
                #expect(try last.summary().number("bytes_reused") == paused.number("bytes_done"))
                #expect(try await bench.run("queue").output == "")
                let idle = try await bench.run("resume", "40111")
                let why = "(finished: 5, removed: 1): only what is paused, failed or cancelled can be resumed"
                #expect(idle.exitCode == 0 && idle.errors == "0 episodes resumed \(why)\n")
                let whole = try await bench.run("pause", "40111/1", environment: ["LANG": "zh_CN.UTF-8"])
                #expect(whole.errors == "暂停 0 集（已下载：1）：只有等待中和下载中的分集可以暂停\n")
            }
        }

        @Test func `--all of pause, resume and cancel is what the queue has, and a book that is named is paused ahead`()
            async throws
        {
            try await withWorkbench { bench in
                func expect(_ said: String, _ states: String..., after arguments: String...) async throws {
                    let result = try await bench.runBare(arguments + ["--library", "L"])
                    #expect(result.exitCode == 0 && result.errors == said + "\n", "\(arguments)")
                    let list = try JSONObject.list(try await bench.run("list", "40111", "--json").output)
                    #expect(list.compactMap { $0["state"] } == states, "\(arguments)")
                }
                let paced = ["BOOKSYNC_DEMO_PACE": "2000"]
                try await bench.start("fetch", "40111/1-3", "--json", environment: paced) { run in
                    for section in 1...3 { try await run.waitForProgress(of: section) }
                    run.send(signal: SIGINT)
                    _ = try await run.result()
                }
                let (waiting, paused, cancelled) = ("waiting", "paused", "cancelled")
                try await expect(
                    "1 episode cancelled", waiting, waiting, cancelled, waiting, waiting, waiting,
                    after: "cancel", "40111/3")
                try await expect(
                    "2 episodes paused", paused, paused, cancelled, waiting, waiting, waiting, after: "pause", "--all")
                try await expect(
                    "2 episodes resumed", waiting, waiting, cancelled, waiting, waiting, waiting,
                    after: "resume", "--all")
                #expect(try JSONObject.list(try await bench.run("queue", "--json").output).count == 2)
                try await expect(
                    "2 episodes cancelled", cancelled, cancelled, cancelled, waiting, waiting, waiting,
                    after: "cancel", "--all")
                try await expect(
                    "1 episode resumed", cancelled, cancelled, waiting, waiting, waiting, waiting,
                    after: "resume", "40111/3")
                try await expect(
                    "6 episodes paused", paused, paused, paused, paused, paused, paused, after: "pause", "40111")
            }
        }

        private static func states(downloading: Int, waiting: Int) -> [String] {
            Array(repeating: "downloading", count: downloading) + Array(repeating: "waiting", count: waiting)
        }

        private func expectObeyed(
            _ words: [String], _ sentence: String, _ run: RunningProduct, _ event: String, _ section: Int,
            in bench: Workbench
        ) async throws {
            let said = try await bench.runBare(words + ["--library", "L"])
            #expect(said.exitCode == 0)
            #expect(said.errors == sentence + "\n")
            let line = try await run.waitForOutput(containing: "\"event\":\"\(event)\",\(identity(section))")
            #expect(try JSONObject(line)["name"] == "第00\(section)集_夜航船")
        }

        private func state(of section: Int, in bench: Workbench) async throws -> JSONObject {
            let list = try await bench.run("list", "40111/\(section)", "--json")
            return try #require(try JSONObject.list(list.output).first)
        }

        @Test(arguments: ["pause", "resume", "cancel", "remove"])
        func `neither a REF nor --all is 64, and so are both`(command: String) async throws {
            try await withWorkbench { bench in
                for arguments in [[command], [command, "40111", "--all"], [command, "40111/x"], [command, ""]] {
                    let result = try await bench.runBare(arguments + ["--library", "L"])
                    #expect(result.exitCode == 64, "\(arguments): \(result.errors)")
                    #expect(result.output == "")
                }
                #expect(try await bench.runBare([command]).errors.contains("--all"))
                #expect(!bench.exists)
            }
        }

        @Test(arguments: ["pause", "resume", "cancel", "remove"])
        func `a book that is not on the shelf, a section that it has not, and no shelf at all are 66`(
            command: String
        ) async throws {
            try await withWorkbench { bench in
                let empty = try await bench.run(command, "--all")
                #expect(empty.exitCode == 66)
                #expect(!bench.exists)
                _ = try await bench.run("fetch", "40111/1", "-q")
                let unknown = try await bench.run(command, "99999")
                #expect(unknown.exitCode == 66)
                #expect(unknown.errors.contains("no book matches '99999'"), "\(unknown.errors)")
                let section = try await bench.run(command, "40111/77")
                #expect(section.exitCode == 66)
                #expect(section.errors.contains("no such section"))
                #expect(try bench.files().count == 1)
            }
        }

        @Test func `a subscription that lets nothing of its book begin is told`() async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("subscribe", "demo:40111", "--max-bytes", "1k")
                let result = try await bench.run("mirror", "-q")
                #expect(result.exitCode == 75)
                #expect(
                    result.errors.contains("episode 1 '第001集_夜航船' is never begun")
                        && result.errors.contains("the max-bytes of its subscription"), "\(result.errors)")
                #expect(try await bench.run("plan").exitCode == 0)
                #expect(try await bench.run("fetch", "40111/1").exitCode == 0)
            }
        }

        @Test func `mirror stops when its time is up, with everything kept and nothing failed`() async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("subscribe", "demo:40111")
                let paced = ["BOOKSYNC_DEMO_PACE": "2000"]
                let first = try await bench.run("mirror", "--time-limit", "5s", "--json", environment: paced)
                #expect(first.exitCode == 75)
                let summary = try first.summary()
                #expect(summary.number("fetched") == 0 && summary.number("failed") == 0)
                #expect(summary.number("left") == 6)
                let received = try #require(summary.number("bytes_received"))
                #expect(received > 0)
                let second = try await bench.run("mirror", "--json")
                #expect(second.exitCode == 0)
                #expect(try second.summary().number("bytes_reused") == received)
                #expect(try bench.files().count == 6)
            }
        }
    }
}

extension RunningProduct {
    /// Waits until bytes of that section of 夜航船 have come.
    @discardableResult
    fileprivate func waitForProgress(of section: Int) async throws -> JSONObject {
        let line = try await waitForOutput(containing: "\"event\":\"progress\",\(identity(section))")
        return try JSONObject(line)
    }
}

/// How a line of JSON names that section of 夜航船.
private func identity(_ section: Int) -> String {
    "\"source\":\"demo\",\"book_id\":\"40111\",\"id\":\"\(5_000_000_000 + section)\""
}

extension ProductRunner.Result {
    /// The sections that `--json` told to be finished, in order.
    func finishedSections() throws -> [Int] {
        try events().filter { $0["event"] == "finished" }.compactMap { $0.number("section") }.sorted()
    }
}
