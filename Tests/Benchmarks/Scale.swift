import CatalogStore
import Foundation

/// A great shelf with nothing to do: what planning all of it takes beside `find`, and what it takes to look at it.
enum Scale: Benchmark {
    static let name = "scale"

    private static let maxMemory: Int64 = 256_000_000

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        let library = try setting.workspace.emptyFolder("library-scale")
        let catalog = try setting.workspace.emptyFolder("catalog")
        defer {
            setting.workspace.remove("library-scale")
            setting.workspace.remove("catalog")
        }
        record("  making 1,000,000 files")
        _ = try setting.measure(
            [Bundle.main.executablePath ?? CommandLine.arguments[0], GreatShelf.childFlag, library, catalog])
        return try await WebServer.with(setting.workspace) { server in
            let configuration = try setting.workspace.write(
                """
                sources:
                  \(GreatShelf.source):
                    type: book-resource
                    url: \(server.address)/catalog
                    page-size: \(GreatShelf.sections.count)
                    allow-private-addresses: true
                default-source: \(GreatShelf.source)
                subscriptions:
                \(GreatShelf.books.map { "  - { book: \"\($0)\" }" }.joined(separator: "\n"))
                """, to: "config-scale.yaml")
            record("  mirroring them, with nothing to fetch")
            _ = try setting.measure(
                setting.product.command(["mirror", "--quiet"], configuration: configuration, library: library))
            try checkPlan(setting, configuration: configuration, library: library)
            var result = try measure(setting, configuration: configuration, library: library)
            result.rows.append(try await openingRow(setting, library: library))
            return result
        }
    }

    private static func measure(
        _ setting: Setting, configuration: String, library: String
    ) throws -> BenchmarkResult {
        let find = ["/bin/sh", "-c", "find \"$0\" -type f -printf '%s %T@\\n' | wc -l", library]
        func command(_ arguments: [String]) -> [String] {
            setting.product.command(arguments, configuration: configuration, library: library)
        }
        let works = [
            Work("`find`", find),
            Work("`plan --offline` of all", command(["plan", "--offline"])),
            Work("`mirror` of all, nothing new", command(["mirror", "--quiet"])),
            Work("`list`", command(["list"]), limit: 0.2),
            Work("`list REF`", command(["list", "7"]), limit: 0.1),
            Work("`list --sort title --json`", command(["list", "--sort", "title", "--json"]), limit: 0.2),
            Work("`search` of two characters, in every title", command(["search", "兽医"]), limit: 0.1),
            Work("`search` of two characters, in a quarter of the names", command(["search", "夜雨"]), limit: 0.1),
            Work("`search` of two characters, nowhere", command(["search", "龙虎"]), limit: 0.1),
            Work("`search` of a number, in every book", command(["search", "第77集"]), limit: 0.1),
        ]
        var measurements = [[Measurement]](repeating: [], count: works.count)
        for run in 1...setting.runs {
            record("  run \(run) of \(setting.runs)")
            for (index, work) in works.enumerated() { measurements[index].append(try setting.measure(work.command)) }
        }
        var rows = works.indices.dropFirst(2).map { works[$0].row(measurements[$0]) }
        rows.insert(planRow(find: measurements[0], plan: measurements[1]), at: 0)
        return BenchmarkResult(rows: rows)
    }

    /// As `list` opens it: for reading, the schema looked at.
    private static func openingRow(_ setting: Setting, library: String) async throws -> ReportRow {
        var seconds: [Double] = []
        for _ in 1...setting.runs {
            let begin = ContinuousClock.now
            let store = try await CatalogStore(path: "\(library)/.booksync/store.sqlite", access: .readOnly)
            seconds.append((ContinuousClock.now - begin) / .seconds(1))
            try await store.close()
        }
        let middle = seconds.sorted()[seconds.count / 2]
        return ReportRow(
            work: "opening the store of 1,000,000 episodes", ours: "\(decimal(middle * 1000, 1)) ms",
            limit: verdict("≤ 20 ms", middle <= 0.02))
    }

    private struct Work {
        let title: String
        let command: [String]
        let limit: Double?

        init(_ title: String, _ command: [String], limit: Double? = nil) {
            self.title = title
            self.command = command
            self.limit = limit
        }

        func row(_ measured: [Measurement]) -> ReportRow {
            ReportRow(
                work: "\(title), 1,000,000 episodes in 2,000 books", ours: "\(decimal(measured.wall, 3)) s",
                memory: megabytes(measured.peakMemory),
                limit: limit.map { verdict("≤ \($0) s", measured.wall <= $0) } ?? "")
        }
    }

    private static func planRow(find: [Measurement], plan: [Measurement]) -> ReportRow {
        let limit = 2 * find.wall + 2
        return ReportRow(
            work: "`plan --offline` of 1,000,000 episodes in 2,000 books, nothing to do",
            ours: "\(decimal(plan.wall)) s", bestPeer: "find \(decimal(find.wall)) s",
            ratio: decimal(plan.wall / find.wall), memory: megabytes(plan.peakMemory),
            limit: verdict("≤ 2 × find + 2 s (\(decimal(limit)) s)", plan.wall <= limit) + "; "
                + verdict("≤ \(megabytes(maxMemory))", plan.peakMemory <= maxMemory))
    }

    /// What is measured is a shelf on which everything is kept.
    private static func checkPlan(_ setting: Setting, configuration: String, library: String) throws {
        let log = setting.workspace.log + ".plan"
        _ = try MeasuredProcess.run(
            setting.product.command(["plan", "--offline"], configuration: configuration, library: library), log: log)
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        let kept = lines.filter { $0.hasSuffix(": \(GreatShelf.sections.count) to keep") }
        guard lines.count == GreatShelf.books.count, kept.count == lines.count else {
            throw MeasuredProcess.Failed(
                description: "\(kept.count) of \(lines.count) books are kept whole: \(lines.prefix(3))")
        }
    }
}
