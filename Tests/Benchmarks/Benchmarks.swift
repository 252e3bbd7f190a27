import Foundation

/// Measures the release build of booksync, and its peers in the same run where they are installed:
/// `swift run -c release Benchmarks [--only NAME] [--runs N] [--booksync PATH]`; what takes long is run by its name
/// only: `--only night`, `--only scale`, `--only soak [--kills N] [--seed N]`.
@main
struct Benchmarks {
    private static var usage: String {
        """
        usage: Benchmarks [--only NAME] [--runs N] [--booksync PATH] [--kills N] [--seed N]
          NAME  \(usual.map { $0.name }.joined(separator: ", ")); may be repeated;
                \(onRequest.map { $0.name }.joined(separator: ", ")) only when named
          N     runs of each program, in turns; medians are printed (5);
                kills of the soak (1000); the seed of all that is random (3)
          PATH  the booksync to measure; without it a release build is made
        """
    }

    private static var usual: [any Benchmark.Type] {
        [
            BulkDownload.self, SecureDownload.self, SmallFiles.self, FilesOnDisk.self, FarDownload.self, LargeFile.self,
            HeldLink.self,
            KilledDownload.self,
            QueueMemory.self, NothingToDo.self, Listing.self, VerifySpeed.self, StartUp.self, StoreFigures.self,
            FeedFigures.self, PageFigures.self, ServeFigures.self,
        ]
    }

    private static var onRequest: [any Benchmark.Type] { [QuietNight.self, Scale.self, KillSoak.self] }

    static func main() async {
        do {
            // What StoreFigures starts, so that its memory is not the benchmark's.
            if CommandLine.arguments.dropFirst().first == StoreFigures.childFlag {
                return try await StoreFigures.child()
            }
            if CommandLine.arguments.dropFirst().first == CatalogReading.childFlag {
                return try CatalogReading.child(Array(CommandLine.arguments.dropFirst(2)))
            }
            if CommandLine.arguments.dropFirst().first == GreatShelf.childFlag {
                return try await GreatShelf.child(Array(CommandLine.arguments.dropFirst(2)))
            }
            if CommandLine.arguments.dropFirst().first == ReadableShelf.childFlag {
                return try await ReadableShelf.child(Array(CommandLine.arguments.dropFirst(2)))
            }
            if CommandLine.arguments.dropFirst().first == FarRelay.childFlag {
                return try FarRelay.child(Array(CommandLine.arguments.dropFirst(2)))
            }
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            let chosen =
                options.names.isEmpty ? usual : (usual + onRequest).filter { options.names.contains($0.name) }
            try await run(chosen, options)
        } catch {
            record("\(error)")
            exit(1)
        }
    }

    private struct Options {
        var names: [String] = []
        var runs = 5
        var kills = 1000
        var seed: UInt64 = 3
        var path: String?

        init(_ arguments: [String]) throws {
            var rest = arguments[...]
            while let argument = rest.popFirst() {
                guard let value = rest.popFirst() else { throw MeasuredProcess.Failed(description: usage) }
                switch argument {
                case "--only": names.append(value)
                case "--runs": runs = Int(value) ?? 0
                case "--kills": kills = Int(value) ?? 0
                case "--seed":
                    guard let number = UInt64(value) else { throw MeasuredProcess.Failed(description: usage) }
                    seed = number
                case "--booksync": path = value
                default: throw MeasuredProcess.Failed(description: usage)
                }
            }
            let known = Set((usual + onRequest).map { $0.name })
            guard runs > 0, kills > 0, known.isSuperset(of: names) else {
                throw MeasuredProcess.Failed(description: usage)
            }
        }
    }

    private static func run(_ chosen: [any Benchmark.Type], _ options: Options) async throws {
        let product = try Product.found(at: options.path)
        let runs = options.runs
        let peers = chosen.contains { $0.usesPeers } ? Peer.installed() : []
        let loadBefore = Machine.load
        let floor = try MeasuredProcess.floor()
        var results = BenchmarkResult()
        try await Workspace.with { workspace in
            for benchmark in chosen {
                record("\(benchmark.name) …")
                let setting = Setting(
                    workspace: workspace, product: product, peers: peers, runs: runs, kills: options.kills,
                    seed: options.seed)
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
    /// Of the soak.
    let kills: Int
    /// Of all that is random.
    let seed: UInt64

    /// A configuration file with one source, `bench`.
    /// - Parameter authority: the file of whom to trust over HTTPS.
    func configuration(catalog: String, pageSize: Int, jobs: Int = 4, authority: String? = nil) throws -> String {
        try workspace.write(
            """
            \(authority.map { "ca-file: \($0)" } ?? "")
            sources:
              bench: { type: book-resource, url: "\(catalog)", page-size: \(pageSize), allow-private-addresses: true }
            downloads: { jobs: \(jobs), jobs-per-host: \(jobs) }
            """, to: "config-\(catalog.filter(\.isNumber))-\(pageSize)-\(jobs).yaml")
    }

    func measure(_ command: [String]) throws -> Measurement {
        try MeasuredProcess.run(command, log: workspace.log)
    }
}

protocol Benchmark: SendableMetatype {
    static var name: String { get }
    /// Whether ``Setting/peers`` are asked for.
    static var usesPeers: Bool { get }
    static func run(_ setting: Setting) async throws -> BenchmarkResult
}

extension Benchmark {
    static var usesPeers: Bool { false }
}
