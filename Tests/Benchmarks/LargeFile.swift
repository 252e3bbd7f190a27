import Foundation
import Support

/// One episode of 500 MB from a server that gives each connection 20 MB/s, with four jobs and with one.
///
/// The pace is kept by a relay in front of nginx, over all requests of a connection: nginx's own `limit_rate` begins
/// anew with each request, and gives the first second's worth at once, which would make a gift of every piece.
enum LargeFile: Benchmark {
    static let name = "large"
    static let usesPeers = true

    private static let bytes = 500_000_000
    private static let pace = Pace(bytesPerSecond: 20_000_000, piece: 16384)
    private static let jobs = 4
    private static let minRatio = 3.5

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        try await WebServer.with(setting.workspace) { server in
            let relay = try Relay.start(to: server.port, .slow(pace))
            defer { relay.stop() }
            let audio = "\(relay.address)/audio/6"
            let catalog = CatalogFiles(workspace: setting.workspace)
            try catalog.writeAudio(of: "6", files: 1, bytes: bytes)
            defer { setting.workspace.remove("audio/6") }
            try catalog.writePages(of: "6", episodes: 1, bytes: bytes, pageSize: 50, audioAt: audio)
            let contest = Contest(setting: setting, files: 1, bytes: bytes)
            let ours = try [jobs, 1].map { jobs in
                contest.booksync(
                    "booksync, jobs \(jobs)", book: "6",
                    configuration: try setting.configuration(
                        catalog: "\(server.address)/catalog", pageSize: 50, jobs: jobs))
            }
            let scores = try contest.run(ours + theirs(setting, address: "\(audio)/1.mp3"))
            let rate = [(title: "MB/s", value: { (score: Score) in decimal(score.rate / 1e6, 1) })]
            return BenchmarkResult(
                rows: [row(scores)], details: [Score.table("500 MB, 20 MB/s a connection", scores, more: rate)])
        }
    }

    private static func theirs(_ setting: Setting, address: String) -> [Contest.Contestant] {
        guard setting.peers.contains(where: { $0.name == "aria2" }) else { return [] }
        return [
            Contest.Contestant(name: "aria2 -x\(jobs) -s\(jobs)") { target in
                [
                    "aria2c", "--no-conf", "-x\(jobs)", "-s\(jobs)", "-k1M", "-d", target, "--file-allocation=none",
                    "--quiet", address,
                ]
            }
        ]
    }

    private static func row(_ scores: [Score]) -> ReportRow {
        let ratio = scores[1].runs.wall / scores[0].runs.wall
        let rival = scores.dropFirst(2).first
        return ReportRow(
            work: "one 500 MB file, 20 MB/s a connection, jobs \(jobs)",
            ours: "\(decimal(scores[0].runs.wall)) s: \(decimal(ratio)) × one connection",
            bestPeer: rival.map { "\($0.name) \(decimal($0.runs.wall)) s" } ?? "",
            ratio: rival.map { decimal(scores[0].runs.wall / $0.runs.wall) } ?? "",
            cpu: decimal(scores[0].cpuPerGibibyte), memory: megabytes(scores[0].runs.peakMemory),
            limit: verdict("≥ \(minRatio) × one connection", ratio >= minRatio))
    }
}
