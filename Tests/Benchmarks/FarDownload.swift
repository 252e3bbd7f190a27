import Foundation

/// Two hundred episodes of 1 MB from a server 100 ms away, eight at once: what each request costs, and whether
/// connections are used again. The peers get a list where booksync reads a catalog, so that its pages come from nearby; what a catalog as
/// far away adds is shown beside.
enum FarDownload: Benchmark {
    static let name = "latency"
    static let usesPeers = true

    private static let files = 200
    private static let bytes = 1_000_000
    private static let jobs = 8
    private static let milliseconds = 100
    private static let rival = "aria2"
    private static let maxRatio = 0.98
    private static let mostConnections = jobs

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        try await WebServer.with(setting.workspace) { server in
            let catalog = CatalogFiles(workspace: setting.workspace)
            try catalog.writeAudio(of: "4", files: files, bytes: bytes)
            defer { setting.workspace.remove("audio/4") }
            return try await FarRelay.with(setting, to: server, milliseconds: milliseconds) { relay in
                let audio = "\(relay.address)/audio/4"
                try catalog.writePages(of: "4", episodes: files, bytes: bytes, pageSize: 50, audioAt: audio)
                let near = try setting.configuration(
                    catalog: "\(server.address)/catalog", pageSize: 50, jobs: jobs)
                let far = try setting.configuration(
                    catalog: "\(relay.address)/catalog", pageSize: 50, jobs: jobs)
                let contest = Contest(
                    setting: setting, files: files, bytes: bytes, connections: { try relay.connections })
                let audioOnly = contest.booksync("booksync (SHA-256 on)", book: "4", configuration: near)
                let withCatalog = contest.booksync("booksync, the catalog as far", book: "4", configuration: far)
                let scores = try contest.run(
                    [audioOnly, withCatalog] + contest.peers(setting.peers, jobs: jobs, audioAt: audio))
                let columns = [
                    (title: "connections", value: { (score: Score) in "\(score.connections.max() ?? 0)" })
                ]
                let table = Score.table("\(files) × 1 MB, \(milliseconds) ms each way", scores, more: columns)
                return BenchmarkResult(rows: [row(scores[0], Array(scores.dropFirst(2)))], details: [table])
            }
        }
    }

    private static func row(_ ours: Score, _ theirs: [Score]) -> ReportRow {
        let rival = theirs.first { $0.name == Self.rival }
        let ratio = rival.map { ours.runs.wall / $0.runs.wall }
        let connections = ours.connections.max() ?? 0
        return ReportRow(
            work: "\(files) × 1 MB through \(milliseconds) ms each way, jobs \(jobs)",
            ours: "\(decimal(ours.runs.wall)) s, \(connections) connections",
            bestPeer: rival.map { "\($0.name) -j\(jobs) \(decimal($0.runs.wall)) s" } ?? "aria2 is not installed",
            ratio: ratio.map { decimal($0) } ?? "", cpu: decimal(ours.cpuPerGibibyte),
            memory: megabytes(ours.runs.peakMemory),
            limit: [
                ratio.map { verdict("wall ≤ \(maxRatio) × aria2", $0 <= maxRatio) } ?? "not compared",
                verdict("≤ \(mostConnections) connections", connections <= mostConnections),
            ].joined(separator: "; "))
    }
}
