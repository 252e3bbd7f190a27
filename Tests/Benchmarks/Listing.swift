import Foundation

/// What the shelf needs to show itself with 100,000 episodes in the store: 20 books of 5,000.
enum Listing: Benchmark {
    static let name = "list"

    private static let books = 20
    private static let episodes = 5000
    private static let pageSize = 1000
    private static let limit = 0.3

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        let references = (1...books).map { "\(100 + $0)" }
        let library = try setting.workspace.emptyFolder("library-list")
        let configuration = try await WebServer.with(setting.workspace) { server in
            let catalog = CatalogFiles(workspace: setting.workspace)
            for book in references {
                // Locked episodes fill the store just as well, and need no files.
                try catalog.writePages(
                    of: book, episodes: episodes, bytes: 9_900_000, pageSize: pageSize, audioAt: nil)
            }
            let configuration = try setting.configuration(catalog: "\(server.address)/catalog", pageSize: pageSize)
            _ = try setting.measure(
                setting.product.command(
                    ["fetch", "--quiet"] + references, configuration: configuration, library: library))
            return configuration
        }
        let works = [
            Work("`list`, \(books * episodes) episodes in the store", ["list"], limit: limit),
            Work("`list REF`, a book of \(episodes) among them", ["list", references[0]], limit: limit),
            Work("`list REF --json`, the same", ["list", references[0], "--json"]),
            Work("`list` of all \(books) books' episodes", ["list"] + references),
        ]
        var measurements = [[Measurement]](repeating: [], count: works.count)
        for _ in 1...setting.runs {
            for (index, work) in works.enumerated() {
                let command = setting.product.command(work.arguments, configuration: configuration, library: library)
                measurements[index].append(try setting.measure(command))
            }
        }
        return BenchmarkResult(rows: works.indices.map { works[$0].row(measurements[$0]) })
    }

    private struct Work {
        let title: String
        let arguments: [String]
        let limit: Double?

        init(_ title: String, _ arguments: [String], limit: Double? = nil) {
            self.title = title
            self.arguments = arguments
            self.limit = limit
        }

        func row(_ measured: [Measurement]) -> ReportRow {
            ReportRow(
                work: title, ours: "\(decimal(measured.wall, 3)) s", memory: megabytes(measured.peakMemory),
                limit: limit.map { verdict("≤ \($0) s", measured.wall <= $0) } ?? "")
        }
    }
}
