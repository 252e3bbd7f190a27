import Foundation

/// A hundred files of 20 MB in memory, read against their records, beside what openssl takes for nothing but their
/// digests, in as many processes as there are cores.
enum VerifySpeed: Benchmark {
    static let name = "verify"

    private static let files = 100
    private static let bytes = 20_000_000
    /// Bytes a second, of openssl's.
    private static let minRatio = 0.9

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        let library = try setting.workspace.emptyFolder("library-verify")
        defer { setting.workspace.remove("library-verify") }
        let configuration = try await WebServer.with(setting.workspace) { server in
            let catalog = CatalogFiles(workspace: setting.workspace)
            try catalog.writeAudio(of: "8", files: files, bytes: bytes)
            defer { setting.workspace.remove("audio/8") }
            try catalog.writePages(
                of: "8", episodes: files, bytes: bytes, pageSize: 50, audioAt: "\(server.address)/audio/8")
            let configuration = try setting.configuration(catalog: "\(server.address)/catalog", pageSize: 50)
            _ = try setting.measure(
                setting.product.command(["fetch", "--quiet", "8"], configuration: configuration, library: library))
            return configuration
        }
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let digests =
            "find '\(library)' -name '*.mp3' -print0 | xargs -0 -P\(cores) -n5 openssl dgst -sha256 >/dev/null"
        var ours = Score(name: "booksync verify", bytes: files * bytes)
        var theirs = Score(name: "openssl dgst -sha256 × \(cores)", bytes: files * bytes)
        let hasOpenSSL = isInstalled("openssl")
        if !hasOpenSSL { record("  openssl is not installed") }
        for run in 1...setting.runs {
            record("  run \(run) of \(setting.runs)")
            ours.runs.append(
                try setting.measure(
                    setting.product.command(["verify"], configuration: configuration, library: library)))
            if hasOpenSSL { theirs.runs.append(try setting.measure(["/bin/sh", "-c", digests])) }
        }
        let scores = hasOpenSSL ? [ours, theirs] : [ours]
        let rate = [(title: "MB/s", value: { (score: Score) in decimal(score.rate / 1e6, 0) })]
        return BenchmarkResult(
            rows: [row(ours, hasOpenSSL ? theirs : nil)],
            details: [Score.table("\(files) × \(bytes / 1_000_000) MB, read", scores, more: rate)])
    }

    private static func isInstalled(_ program: String) -> Bool {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }

    private static func row(_ ours: Score, _ theirs: Score?) -> ReportRow {
        let ratio = theirs.map { ours.rate / $0.rate }
        return ReportRow(
            work: "`verify`, \(files) × \(bytes / 1_000_000) MB in memory",
            ours: "\(decimal(ours.runs.wall)) s", bestPeer: theirs.map { "openssl \(decimal($0.runs.wall)) s" } ?? "",
            ratio: theirs.map { decimal(ours.runs.wall / $0.runs.wall) } ?? "", cpu: decimal(ours.cpuPerGibibyte),
            memory: megabytes(ours.runs.peakMemory),
            limit: ratio.map { verdict("≥ \(minRatio) × openssl's speed", $0 >= minRatio) } ?? "not compared")
    }
}
