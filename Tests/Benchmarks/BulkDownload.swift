import Foundation

/// A hundred episodes of 9.9 MB over loopback into memory, four at once, beside what others need for the same.
enum BulkDownload: Benchmark {
    static let name = "bulk"
    static let usesPeers = true

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        try await LoopbackDownload(
            title: "100 × 9.9 MB", book: "1", files: 100, bytes: 9_900_000, maxCPU: 1.3,
            maxMemory: 64_000_000
        ).run(setting)
    }
}

/// Two thousand episodes of 100 KB, likewise: what each file costs, whatever its size.
enum SmallFiles: Benchmark {
    static let name = "small"
    static let usesPeers = true

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        try await LoopbackDownload(title: "2,000 × 100 KB", book: "3", files: 2000, bytes: 100_000).run(setting)
    }
}

/// Files fetched from nginx on loopback into memory, four at once, by booksync and by its peers.
private struct LoopbackDownload {
    private static let maxRatio = 1.0
    private static let jobs = 4

    let title: String
    let book: String
    let files: Int
    let bytes: Int
    /// Seconds for each GiB.
    var maxCPU: Double?
    var maxMemory: Int64?

    func run(_ setting: Setting) async throws -> BenchmarkResult {
        try await WebServer.with(setting.workspace) { server in
            let catalog = CatalogFiles(workspace: setting.workspace)
            let audio = "\(server.address)/audio/\(book)"
            try catalog.writeAudio(of: book, files: files, bytes: bytes)
            defer { setting.workspace.remove("audio/\(book)") }
            try catalog.writePages(of: book, episodes: files, bytes: bytes, pageSize: 50, audioAt: audio)
            let configuration = try setting.configuration(
                catalog: "\(server.address)/catalog", pageSize: 50, jobs: Self.jobs)
            let contest = Contest(setting: setting, files: files, bytes: bytes)
            let scores = try contest.run(
                [contest.booksync("booksync (SHA-256 on)", book: book, configuration: configuration)]
                    + contest.peers(setting.peers, jobs: Self.jobs, audioAt: audio))
            return BenchmarkResult(
                rows: [row(scores[0], Array(scores.dropFirst()))], details: [Score.table(title, scores)])
        }
    }

    private func row(_ ours: Score, _ theirs: [Score]) -> ReportRow {
        let best = theirs.min { $0.runs.wall < $1.runs.wall }
        let ratio = best.map { ours.runs.wall / $0.runs.wall }
        var limits = [
            ratio.map { verdict("wall ≤ \(Self.maxRatio) × best peer", $0 <= Self.maxRatio) }
                ?? "not compared"
        ]
        if let maxCPU {
            limits.append(verdict("CPU ≤ \(maxCPU) s/GiB", ours.cpuPerGibibyte <= maxCPU))
        }
        if let maxMemory {
            limits.append(verdict("RSS ≤ \(megabytes(maxMemory))", ours.runs.peakMemory <= maxMemory))
        }
        return ReportRow(
            work: "\(title), loopback → memory, jobs \(Self.jobs)", ours: "\(decimal(ours.runs.wall)) s",
            bestPeer: best.map { "\($0.name) \(decimal($0.runs.wall)) s" } ?? "none installed",
            ratio: ratio.map { decimal($0) } ?? "", cpu: decimal(ours.cpuPerGibibyte),
            memory: megabytes(ours.runs.peakMemory), limit: limits.joined(separator: "; "))
    }
}
