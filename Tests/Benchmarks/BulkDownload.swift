import Foundation

/// A hundred episodes of 9.9 MB over loopback into memory, four at once, beside what others need for the same.
enum BulkDownload: Benchmark {
    static let name = "bulk"
    static let usesPeers = true

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        try await LoopbackDownload(title: "100 × 9.9 MB", book: "1", files: 100, bytes: 9_900_000).run(setting) {
            ours, peers, _ in
            var limits = [
                verdict("CPU ≤ 1.38 s/GiB", ours.cpuPerGibibyte <= 1.38),
                verdict("RSS ≤ 70 MB", ours.runs.peakMemory <= 70_000_000),
            ]
            if let rclone = peers.first(where: { $0.name == "rclone" }) {
                limits += [
                    limit("rclone, then openssl", ours.runs.wall / rclone.finishedWall, 0.8),
                    limit("rclone", ours.runs.wall / rclone.runs.wall, 1.35),
                ]
            }
            return limits
        }
    }
}

/// The same over HTTPS, beside rclone.
enum SecureDownload: Benchmark {
    static let name = "secure"
    static let usesPeers = true

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        let certificate = "\(setting.workspace.path)/certificate.pem"
        _ = try setting.measure([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", certificate + ".key", "-out",
            certificate,
        ])
        let key = try String(contentsOfFile: certificate + ".key", encoding: .utf8)
        try (String(contentsOfFile: certificate, encoding: .utf8) + key)
            .write(toFile: certificate, atomically: true, encoding: .utf8)
        var work = LoopbackDownload(title: "100 × 9.9 MB over HTTPS", book: "4", files: 100, bytes: 9_900_000)
        work.certificate = certificate
        return try await work.run(setting) { ours, peers, _ in
            [
                verdict("CPU ≤ 1.65 s/GiB", ours.cpuPerGibibyte <= 1.65),
                verdict("RSS ≤ 80 MB", ours.runs.peakMemory <= 80_000_000),
            ]
                + peers.flatMap {
                    [
                        limit("\($0.name), then openssl", ours.runs.wall / $0.finishedWall, 0.9),
                        limit($0.name, ours.runs.wall / $0.runs.wall, 1.2),
                    ]
                }
        }
    }
}

/// Two thousand episodes of 100 KB, likewise: what each file costs, whatever its size.
enum SmallFiles: Benchmark {
    static let name = "small"
    static let usesPeers = true

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        try await LoopbackDownload(title: "2,000 × 100 KB", book: "3", files: 2000, bytes: 100_000).run(setting) {
            ours, peers, calls in
            let files = 2000.0
            let (cpu, switches) = (ours.runs.cpu / files * 1e6, ours.runs.switches / files)
            let span = ours.spans.median
            var limits = [
                verdict("CPU \(decimal(cpu, 0)) ≤ 320 µs a file", cpu <= 320),
                verdict("switches \(decimal(switches, 1)) ≤ 2 a file", switches <= 2),
                verdict("\(decimal(span)) ≤ 0.28 s from file to file", span <= 0.28),
            ]
            if let calls {
                let each = Double(calls) / files
                limits.append(verdict("system calls \(decimal(each, 1)) ≤ 17 a file", each <= 17))
            }
            if let rclone = peers.first(where: { $0.name == "rclone" }) {
                limits.append(limit("rclone", ours.runs.wall / rclone.runs.wall, 1.2))
            }
            if let wget = peers.first(where: { $0.name == "wget2" }) {
                limits.append(limit("wget2, then openssl", ours.runs.wall / wget.finishedWall, 0.85))
            }
            return limits
        }
    }
}

/// The same onto a disk, where every file is to be there after a power cut.
enum FilesOnDisk: Benchmark {
    static let name = "disk"
    static let usesPeers = true

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        let folder = "/var/tmp/booksync-benchmark-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { _ = Result { try FileManager.default.removeItem(atPath: folder) } }
        var work = LoopbackDownload(title: "2,000 × 100 KB", book: "3", files: 2000, bytes: 100_000)
        work.folder = folder
        return try await work.run(setting) { ours, peers, _ in
            peers.filter { $0.name == "wget2" }.map {
                limit("wget2, then sync", ours.runs.wall / $0.finishedWall, 1.25)
            }
        }
    }
}

private func limit(_ what: String, _ ratio: Double, _ most: Double) -> String {
    verdict("\(decimal(ratio)) ≤ \(most) × \(what)", ratio <= most)
}

/// Files fetched from nginx on loopback, four at once, by booksync and by its peers.
private struct LoopbackDownload {
    private static let jobs = 4

    let title: String
    let book: String
    let files: Int
    let bytes: Int
    /// Where they are fetched to; nil for memory.
    var folder: String?
    /// For HTTPS, which of the peers rclone alone does with it.
    var certificate: String?

    /// - Parameter limits: makes of our score, the peers' and the number of system calls what is to be met.
    func run(
        _ setting: Setting, limits: (_ ours: Score, _ peers: [Score], _ calls: Int?) -> [String]
    ) async throws -> BenchmarkResult {
        try await WebServer.with(setting.workspace, certificate: certificate) { server in
            let catalog = CatalogFiles(workspace: setting.workspace)
            let audio = "\(server.address)/audio/\(book)"
            try catalog.writeAudio(of: book, files: files, bytes: bytes)
            defer { setting.workspace.remove("audio/\(book)") }
            try catalog.writePages(of: book, episodes: files, bytes: bytes, pageSize: 50, audioAt: audio)
            let configuration = try setting.configuration(
                catalog: "\(server.address)/catalog", pageSize: 50, jobs: Self.jobs, authority: certificate)
            let contest = Contest(setting: setting, files: files, bytes: bytes, folder: folder)
            let own = contest.booksync("booksync (SHA-256 on)", book: book, configuration: configuration)
            var others = setting.peers
            if let certificate { others = others.compactMap { $0.trusting(certificate) } }
            let scores = try contest.run(
                [own] + contest.peers(others, jobs: Self.jobs, audioAt: audio, isFinished: true))
            let calls = folder == nil && certificate == nil ? try contest.systemCalls(of: own) : nil
            let (ours, peers) = (scores[0], Array(scores.dropFirst()))
            let best = peers.min { $0.runs.wall < $1.runs.wall }
            let target = folder.map { URL(filePath: $0).deletingLastPathComponent().path } ?? "memory"
            let row = ReportRow(
                work: "\(title), loopback → \(target), jobs \(Self.jobs)", ours: "\(decimal(ours.runs.wall)) s",
                bestPeer: best.map { "\($0.name) \(decimal($0.runs.wall)) s" } ?? "none installed",
                ratio: best.map { decimal(ours.runs.wall / $0.runs.wall) } ?? "", cpu: decimal(ours.cpuPerGibibyte),
                memory: megabytes(ours.runs.peakMemory), limit: limits(ours, peers, calls).joined(separator: "; "))
            return BenchmarkResult(rows: [row], details: [Score.table("\(title) → \(target)", scores)])
        }
    }
}
