import Foundation
import Support

/// The hundred episodes of the first row, from a server that gives each connection 5 MB/s in small parts, with twenty
/// kills at random moments: what is fetched twice.
enum KilledDownload: Benchmark {
    static let name = "kills"

    private static let sizes = Array(repeating: 9_900_000, count: 100)
    private static let kills = 20
    private static let jobs = 4

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        try await WebServer.with(setting.workspace) { server in
            let relay = try Relay.start(to: server.port, .slow(KillSoak.pace))
            defer { relay.stop() }
            let catalog = CatalogFiles(workspace: setting.workspace)
            try catalog.writeAudio(of: "10", sizes: sizes)
            defer { setting.workspace.remove("audio/10") }
            try catalog.writePages(
                of: "10", sizes: sizes, pageSize: 50, audioAt: "\(relay.address)/audio/10")
            let configuration = try setting.configuration(
                catalog: "\(server.address)/catalog", pageSize: 50, jobs: jobs)
            let sources = try KilledBook.Sources(of: "10", sizes: sizes, in: setting.workspace)
            var random = SeededGenerator(seed: setting.seed)
            let moments = (1...kills).map { _ in Int.random(in: 0..<sources.bytes, using: &random) }.sorted()
            // Once, however many runs of the others are asked for: it takes a minute, and counts instead of clocks.
            var book = try KilledBook(
                setting: setting, book: "10", jobs: jobs, configuration: configuration, relay: relay,
                sources: sources)
            for moment in moments {
                // Two moments may lie close together: each run is to get somewhere.
                _ = try book.run(killedAt: .bytes(max(moment, book.sent + 1)))
            }
            let killed = book.kills
            _ = try book.run(killedAt: nil)
            let findings = try book.check()
            setting.workspace.remove("target")
            return BenchmarkResult(rows: [row(findings, killed: killed)])
        }
    }

    private static func row(_ findings: KilledBook.Findings, killed: Int) -> ReportRow {
        ReportRow(
            work: "100 × 9.9 MB at 5 MB/s a connection, killed \(killed) times (seeded)",
            ours: """
                \(findings.sent) body bytes sent, \(decimal(Double(findings.wasted) / 1024, 1)) KiB beyond the files'; \
                \(findings.wrong) wrong, \(findings.lost) lost, \(findings.extra) extra
                """,
            limit: verdict(
                "≤ 64 KiB × jobs for each kill (\(findings.allowed / 1024) KiB), every SHA-256 right",
                findings.areGood && killed == kills))
    }
}
