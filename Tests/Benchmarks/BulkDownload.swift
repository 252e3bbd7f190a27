import Foundation

/// A hundred episodes of 9.9 MB over loopback into memory, four at once, beside what others need for the same.
enum BulkDownload: Benchmark {
    static let name = "bulk"

    private static let files = 100
    private static let bytes = 9_900_000
    private static let greatestRatio = 1.2
    private static let greatestMemory: Int64 = 80_000_000

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        try await WebServer.with(setting.workspace) { server in
            let catalog = CatalogFiles(workspace: setting.workspace)
            let audio = "\(server.address)/audio/1"
            try catalog.writeAudio(of: "1", files: files, bytes: bytes)
            try catalog.writePages(of: "1", episodes: files, bytes: bytes, pageSize: 50, audioAt: audio)
            let configuration = try setting.configuration(catalog: "\(server.address)/catalog", pageSize: 50)
            var ours = Contender(name: "booksync (SHA-256 on)")
            var theirs = setting.peers.map { Contender(name: $0.name) }
            // In turns, so that what else the machine does befalls all alike.
            for run in 1...setting.runs {
                note("  run \(run) of \(setting.runs)")
                ours.runs.append(
                    try checked(setting) { target in
                        setting.product.command(
                            ["fetch", "--book", "1", "--quiet"], configuration: configuration, library: target)
                    })
                for (index, peer) in setting.peers.enumerated() {
                    theirs[index].runs.append(
                        try checked(setting) { target in
                            try peer.command(
                                Peer.Work(
                                    address: audio, files: files, target: target, workspace: setting.workspace))
                        })
                }
            }
            return result(ours, theirs)
        }
    }

    /// Runs the command that `command` makes for an empty folder, and looks whether all the bytes came.
    private static func checked(
        _ setting: Setting, _ command: (String) throws -> [String]
    ) throws -> Measurement {
        let target = try setting.workspace.emptyFolder("target")
        let command = try command(target)
        let measurement = try setting.measure(command)
        let found = try Workspace.contents(of: target)
        guard found.files == files, found.bytes == Int64(files * bytes) else {
            throw MeasuredProcess.Failed(
                description: "\(command[0]) brought \(found.files) files of \(found.bytes) bytes in all")
        }
        _ = try setting.workspace.emptyFolder("target")
        return measurement
    }

    private static func result(_ ours: Contender, _ theirs: [Contender]) -> BenchmarkResult {
        let best = theirs.min { $0.runs.wall < $1.runs.wall }
        let ratio = best.map { ours.runs.wall / $0.runs.wall }
        let isFast = ratio.map { $0 <= greatestRatio } ?? true
        let isSmall = ours.runs.peakMemory <= greatestMemory
        let row = ReportRow(
            work: "\(files) × 9.9 MB, loopback → memory, jobs 4", ours: "\(decimal(ours.runs.wall)) s",
            bestPeer: best.map { "\($0.name) \(decimal($0.runs.wall)) s" } ?? "none installed",
            ratio: ratio.map { decimal($0) } ?? "", cpu: decimal(ours.cpuPerGibibyte),
            memory: megabytes(ours.runs.peakMemory),
            limit: verdict(
                "wall ≤ \(greatestRatio) × best peer, RSS ≤ \(megabytes(greatestMemory))", isFast && isSmall))
        let rows = ([ours] + theirs).map { contender in
            [
                contender.name, decimal(contender.runs.wall), contender.runs.range, decimal(contender.cpuPerGibibyte),
                megabytes(contender.runs.peakMemory),
            ]
        }
        return BenchmarkResult(
            rows: [row],
            details: [Report.markdown(["\(files) × 9.9 MB", "wall s", "range", "CPU s/GiB", "peak RSS"], rows)])
    }

    /// A program and what its runs took.
    private struct Contender {
        var name: String
        var runs: [Measurement] = []

        var cpuPerGibibyte: Double { runs.cpu / (Double(files * bytes) / Double(1 << 30)) }
    }
}
