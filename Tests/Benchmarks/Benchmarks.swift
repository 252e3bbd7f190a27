import Foundation

/// Measures the release build of booksync, and its peers in the same run where they are installed:
/// `swift run -c release Benchmarks [--only NAME] [--runs N] [--booksync PATH]`.
@main
struct Benchmarks {
    private static var usage: String {
        """
        usage: Benchmarks [--only NAME] [--runs N] [--booksync PATH]
          NAME  \(all.map { $0.name }.joined(separator: ", ")); may be repeated
          N     runs of each program, in turns; medians are printed (5)
          PATH  the booksync to measure; without it a release build is made
        """
    }

    private static var all: [any Benchmark.Type] {
        [BulkDownload.self, NothingToDo.self, Listing.self, StartUp.self, StoreFigures.self]
    }

    static func main() async {
        do {
            // What StoreFigures starts, so that its memory is not the benchmark's.
            if CommandLine.arguments.dropFirst().first == StoreFigures.childFlag {
                return try await StoreFigures.child()
            }
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            let chosen = all.filter { options.names.isEmpty || options.names.contains($0.name) }
            try await run(chosen, runs: options.runs, product: try Product.found(at: options.path))
        } catch {
            note("\(error)")
            exit(1)
        }
    }

    private struct Options {
        var names: [String] = []
        var runs = 5
        var path: String?

        init(_ arguments: [String]) throws {
            var rest = arguments[...]
            while let argument = rest.popFirst() {
                guard let value = rest.popFirst() else { throw MeasuredProcess.Failed(description: usage) }
                switch argument {
                case "--only": names.append(value)
                case "--runs": runs = Int(value) ?? 0
                case "--booksync": path = value
                default: throw MeasuredProcess.Failed(description: usage)
                }
            }
            let known = Set(all.map { $0.name })
            guard runs > 0, known.isSuperset(of: names) else { throw MeasuredProcess.Failed(description: usage) }
        }
    }

    private static func run(_ chosen: [any Benchmark.Type], runs: Int, product: Product) async throws {
        let peers = chosen.contains { $0.name == BulkDownload.name } ? Peer.installed() : []
        let loadBefore = Machine.load
        let floor = try MeasuredProcess.floor()
        var results = BenchmarkResult()
        try await Workspace.with { workspace in
            for benchmark in chosen {
                note("\(benchmark.name) …")
                let setting = Setting(workspace: workspace, product: product, peers: peers, runs: runs)
                let result = try await benchmark.run(setting)
                results.rows += result.rows
                results.details += result.details
            }
        }
        print(Report.table(results.rows))
        for detail in results.details { print("\n\(detail)") }
        let facts =
            Machine.facts(peers: peers) + [
                "load before \(loadBefore), after \(Machine.load)",
                "medians of \(runs) runs, programs in turns; memory below \(megabytes(floor)) cannot be told apart",
            ]
        print("\n" + facts.map { "- \($0)" }.joined(separator: "\n"))
    }
}

/// What a benchmark works with.
struct Setting: Sendable {
    let workspace: Workspace
    let product: Product
    let peers: [Peer]
    let runs: Int

    /// A configuration file with one source, `bench`.
    func configuration(catalog: String, pageSize: Int) throws -> String {
        try workspace.write(
            """
            sources:
              bench: { type: book-resource, url: "\(catalog)", page-size: \(pageSize), allow-private-addresses: true }
            downloads: { jobs: 4, jobs-per-host: 4 }
            """, to: "config-\(pageSize).yaml")
    }

    func measure(_ command: [String]) throws -> Measurement {
        try MeasuredProcess.run(command, log: workspace.log)
    }
}

protocol Benchmark: SendableMetatype {
    static var name: String { get }
    static func run(_ setting: Setting) async throws -> BenchmarkResult
}
