import Foundation

/// Ten episodes of 9.9 MB over a link that is held to 100 Mbit/s, beside curl over the same link.
///
/// Ethernet, IP and TCP take their part of the link: of the 1,514 bytes of a full frame, as the link counts it, 1,448
/// are payload, so that 95.6 Mbit/s of payload fill it.
enum HeldLink: Benchmark {
    static let name = "link"
    static let usesPeers = true

    private static let files = 10
    private static let bytes = 9_900_000
    private static let payloadOfFrame = 1448.0 / 1514.0
    private static let minShare = 0.95

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        do {
            return try await NetworkPair.with(setting) { try await run(setting, over: $0) }
        } catch let refusal as NetworkPair.NotHere {
            return BenchmarkResult(rows: [
                ReportRow(work: "link held to 100 Mbit/s", ours: "skipped: \(refusal.why)")
            ])
        }
    }

    private static func run(_ setting: Setting, over link: NetworkPair) async throws -> BenchmarkResult {
        try await WebServer.with(setting.workspace, at: link.place) { server in
            let audio = "\(server.address)/audio/7"
            let catalog = CatalogFiles(workspace: setting.workspace)
            try catalog.writeAudio(of: "7", files: files, bytes: bytes)
            defer { setting.workspace.remove("audio/7") }
            try catalog.writePages(of: "7", episodes: files, bytes: bytes, pageSize: 50, audioAt: audio)
            let configuration = try setting.configuration(catalog: "\(server.address)/catalog", pageSize: 50)
            let contest = Contest(setting: setting, files: files, bytes: bytes)
            let programs =
                [contest.booksync("booksync (SHA-256 on)", book: "7", configuration: configuration)]
                + contest.peers(setting.peers.filter { $0.name == "curl -Z" }, jobs: 4, audioAt: audio)
            let scores = try contest.run(
                programs.map { program in
                    Contest.Contestant(name: program.name) { try link.inClient + program.command($0) }
                })
            return result(scores)
        }
    }

    private static func result(_ scores: [Score]) -> BenchmarkResult {
        let curl = scores.dropFirst().first
        let share = used(scores[0])
        let row = ReportRow(
            work: "\(files) × 9.9 MB over a link held to 100 Mbit/s (tbf, MTU 1500)",
            ours: "\(decimal(payload(scores[0]), 1)) Mbit/s of payload, \(decimal(share * 100, 1)) % of the link",
            bestPeer: curl.map { "\($0.name) \(decimal(payload($0), 1)) Mbit/s" } ?? "",
            ratio: curl.map { decimal(scores[0].runs.wall / $0.runs.wall) } ?? "",
            cpu: decimal(scores[0].cpuPerGibibyte), memory: megabytes(scores[0].runs.peakMemory),
            limit: verdict("≥ 95 % of the link", share >= minShare))
        let columns = [
            (title: "payload Mbit/s", value: { (score: Score) in decimal(payload(score), 1) }),
            (title: "with frame headers", value: { (score: Score) in "\(decimal(used(score) * 100, 1)) %" }),
        ]
        return BenchmarkResult(
            rows: [row], details: [Score.table("\(files) × 9.9 MB, 100 Mbit/s", scores, more: columns)])
    }

    /// Mbit/s.
    private static func payload(_ score: Score) -> Double { score.rate * 8 / 1e6 }

    /// Of the link's rate, with the headers of the frames that carried the payload.
    private static func used(_ score: Score) -> Double { payload(score) / payloadOfFrame / 100 }
}
