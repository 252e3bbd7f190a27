import Foundation
import Support

/// What waiting costs in memory: one book of 10,000 episodes, of which all, or ten, are to be fetched from a server that
/// gives a byte a second, so that four are under way and the others wait until the run is interrupted; and, for what the
/// catalog adds, a book of ten.
enum QueueMemory: Benchmark {
    static let name = "queue"

    private static let many = 10_000
    private static let few = 10
    private static let bytes = 2000
    private static let jobs = 4
    private static let limit: Int64 = 10_000_000

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        try await WebServer.with(setting.workspace) { server in
            let relay = try Relay.start(to: server.port, .slow(.drip()))
            defer { relay.stop() }
            let catalog = CatalogFiles(workspace: setting.workspace)
            for (book, episodes) in [("8", many), ("9", few)] {
                try catalog.writeAudio(of: book, files: jobs, bytes: bytes)
                try catalog.writePages(
                    of: book, episodes: episodes, bytes: bytes, pageSize: 50,
                    audioAt: "\(relay.address)/audio/\(book)")
            }
            let configuration = try setting.configuration(
                catalog: "\(server.address)/catalog", pageSize: 50, jobs: jobs)
            let works = [
                Work(title: "\(many) of \(many)", book: "8", arguments: [], queued: many),
                Work(title: "\(few) of \(many)", book: "8", arguments: ["--only", "1-\(few)"], queued: few),
                Work(title: "\(few) of \(few)", book: "9", arguments: [], queued: few),
            ]
            var peaks = [[Double]](repeating: [], count: works.count)
            for run in 1...setting.runs {
                record("  run \(run) of \(setting.runs)")
                for (index, work) in works.enumerated() {
                    peaks[index].append(
                        Double(try peakMemory(setting, work, configuration: configuration, relay: relay)))
                }
            }
            return result(works, peaks.map { Int64($0.median) })
        }
    }

    private struct Work {
        let title: String
        let book: String
        let arguments: [String]
        /// Transfers, those under way included.
        let queued: Int
    }

    /// Bytes, from the start to the end that an interruption brings once all are queued.
    private static func peakMemory(
        _ setting: Setting, _ work: Work, configuration: String, relay: Relay
    ) throws -> Int64 {
        let library = try setting.workspace.emptyFolder("library-queue")
        let command = setting.product.command(
            ["fetch", "--book", work.book, "--quiet"] + work.arguments, configuration: configuration,
            library: library)
        let before = relay.counts.bodyBytes
        let process = try MeasuredProcess.start(command, log: setting.workspace.log)
        // All four send their first bytes only when everything is planned.
        while relay.counts.bodyBytes < before + jobs, !MeasuredProcess.hasEnded(process) { usleep(10_000) }
        let queued = try queuedTransfers(setting, configuration: configuration, library: library)
        // A second for what goes on beside them.
        sleep(1)
        kill(process, SIGTERM)
        let (status, usage) = try MeasuredProcess.wait(for: process)
        guard status >> 8 == 143, queued == work.queued else {
            throw MeasuredProcess.Failed(
                description: "\(queued) transfers were queued for \(work.queued), and the run ended with \(status)")
        }
        try relay.waitUntilIdle()
        return MeasuredProcess.peakMemory(usage)
    }

    /// As `booksync queue` tells it.
    private static func queuedTransfers(_ setting: Setting, configuration: String, library: String) throws -> Int {
        let log = setting.workspace.log + ".queue"
        _ = try MeasuredProcess.run(
            setting.product.command(["queue", "--json"], configuration: configuration, library: library), log: log)
        let document = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: log)))
        return (document as? [Any])?.count ?? -1
    }

    private static func result(_ works: [Work], _ peaks: [Int64]) -> BenchmarkResult {
        let difference = peaks[0] - peaks[1]
        let wholeDifference = peaks[0] - peaks[2]
        let row = ReportRow(
            work: "\(many) queued transfers beside \(few) queued of the same book",
            ours: """
                \(decimal(Double(difference) / 1e6, 1)) MB more \
                (\(decimal(Double(wholeDifference) / 1e6, 1)) MB more than a book of \(few))
                """,
            memory: megabytes(peaks[0]),
            limit: verdict("≤ \(megabytes(limit)) more", difference <= limit))
        let rows = zip(works, peaks).map { [$0.title, megabytes($1)] }
        return BenchmarkResult(
            rows: [row], details: [Report.markdown(["episodes queued, of the book's", "peak RSS"], rows)])
    }
}
