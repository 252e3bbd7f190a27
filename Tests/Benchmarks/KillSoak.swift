import Foundation
import Support

/// A book of 200 episodes, one of them large enough to be fetched in pieces, fetched into one library after the other
/// until the program was killed a thousand times. Not part of a plain run: it takes a quarter of an hour.
enum KillSoak: Benchmark {
    static let name = "soak"

    /// What each connection gets.
    static let pace = Pace(bytesPerSecond: 5_000_000, piece: 4096)
    private static let sizes = Array(repeating: 1_200_000, count: 199) + [80_000_000]
    private static let jobs = 4

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        try await WebServer.with(setting.workspace) { server in
            let relay = try Relay.start(to: server.port, .slow(pace))
            defer { relay.stop() }
            let catalog = CatalogFiles(workspace: setting.workspace)
            try catalog.writeAudio(of: "11", sizes: sizes)
            defer { setting.workspace.remove("audio/11") }
            try catalog.writePages(
                of: "11", sizes: sizes, pageSize: 50, audioAt: "\(relay.address)/audio/11")
            let configuration = try setting.configuration(
                catalog: "\(server.address)/catalog", pageSize: 50, jobs: jobs)
            let sources = try KilledBook.Sources(of: "11", sizes: sizes, in: setting.workspace)
            var random = SeededGenerator(seed: setting.seed)
            var total = Total()
            while total.kills < setting.kills {
                var book = try KilledBook(
                    setting: setting, book: "11", jobs: jobs, configuration: configuration, relay: relay,
                    sources: sources)
                while total.kills + book.kills < setting.kills {
                    let moment = Self.moment(sent: book.sent, using: &random)
                    guard try book.run(killedAt: moment.value) else { break }
                    total.kinds[moment.kind, default: 0] += 1
                }
                let killed = book.kills
                _ = try book.run(killedAt: nil)
                let findings = try book.check()
                total.add(findings, kills: killed)
                record("  \(total.kills) kills, library \(total.libraries): \(findings)")
            }
            setting.workspace.remove("target")
            return total.result(seed: setting.seed, wanted: setting.kills)
        }
    }

    /// A moment of each kind now and then.
    /// - Parameter sent: body bytes up to now, for this library.
    private static func moment(
        sent: Int, using random: inout SeededGenerator
    ) -> (kind: String, value: KilledBook.Moment) {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: ("while it starts", .time(Int.random(in: 0..<120_000, using: &random)))
        case 30..<75:
            ("at a byte", .bytes(sent + Int.random(in: 1...16_000_000, using: &random)))
        default:
            (
                "after a file's last byte",
                .end(
                    ofBody: Int.random(in: 1...12, using: &random),
                    microseconds: Int.random(in: 0..<8000, using: &random))
            )
        }
    }

    private struct Total {
        var kills = 0
        var kinds: [String: Int] = [:]
        var libraries = 0
        var wrong = 0
        var lost = 0
        var extra = 0
        var sent = 0
        var wasted = 0
        /// The largest part that any library used of what it was allowed.
        var maxShare = 0.0
        var areGood = true

        mutating func add(_ findings: KilledBook.Findings, kills: Int) {
            self.kills += kills
            libraries += 1
            wrong += findings.wrong
            lost += findings.lost
            extra += findings.extra
            sent += findings.sent
            wasted += findings.wasted
            if findings.allowed > 0 {
                maxShare = max(maxShare, Double(findings.wasted) / Double(findings.allowed))
            }
            areGood = areGood && findings.areGood
        }

        func result(seed: UInt64, wanted: Int) -> BenchmarkResult {
            let perKill = Double(wasted) / Double(max(kills, 1)) / 1024
            let row = ReportRow(
                work: "200 episodes (one of 80 MB, in pieces), killed \(kills) times over \(libraries) libraries",
                ours: "\(wrong) wrong, \(lost) lost, \(extra) extra; \(decimal(perKill, 1)) KiB twice for each kill",
                limit: verdict(
                    "0 wrong, 0 lost, ≤ \(KilledBook.inFlight / 1024 * jobs) KiB for each kill, in each library",
                    areGood && kills >= wanted))
            let counts = kinds.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
            let summary = """
                Soak, seed \(seed): \(kills) kills (\(counts)), \(libraries) libraries completed, each \
                \(sizes.count) files of \(sizes.reduce(0, +)) bytes; \(sent) body bytes sent, \(wasted) of them twice or in \
                vain, at most \(decimal(maxShare * 100, 1)) % of what a library was allowed.
                """
            return BenchmarkResult(rows: [row], details: [summary])
        }
    }
}
