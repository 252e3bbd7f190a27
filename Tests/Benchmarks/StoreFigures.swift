import BookModel
import CatalogStore
import Foundation
import Support

/// What the store itself takes, without a program around it: 200,000 new episodes in pages of 50, and finding them
/// unchanged. Runs in a process of its own, started by the benchmark, on the disk that holds temporary files.
enum StoreFigures: Benchmark {
    static let name = "store"
    static let childFlag = "--store-figures"

    private static let episodes = 200_000
    private static let pageSize = 50

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        let executable = Bundle.main.executablePath ?? CommandLine.arguments[0]
        var insertions: [Double] = []
        var comparisons: [Double] = []
        for _ in 1...setting.runs {
            _ = try setting.measure([executable, childFlag])
            let output = String(
                decoding: FileManager.default.contents(atPath: setting.workspace.log) ?? Data(), as: UTF8.self)
            let seconds = output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
            guard seconds.count == 2 else { throw MeasuredProcess.Failed(description: "no figures in: \(output)") }
            insertions.append(seconds[0])
            comparisons.append(seconds[1])
        }
        return BenchmarkResult(rows: [
            row("store: \(episodes) new episodes, pages of \(pageSize)", insertions.median),
            row("store: finding them unchanged", comparisons.median),
        ])
    }

    private static func row(_ work: String, _ seconds: Double) -> ReportRow {
        ReportRow(work: work, ours: "\(decimal(seconds)) s (\(decimal(Double(episodes) / seconds, 0)) a second)")
    }

    /// Prints the seconds of the two.
    static func child() async throws {
        try await withTemporaryFolder { folder in
            let store = try await CatalogStore(path: folder.appending(path: "store.sqlite").path, access: .readWrite)
            let insertion = try await seconds(merging: \.added, into: store)
            let comparison = try await seconds(merging: \.unchanged, into: store)
            try await store.close()
            print(insertion, comparison)
        }
    }

    /// - Parameter expected: what all episodes are to count as.
    private static func seconds(
        merging expected: KeyPath<MergeCounts, Int>, into store: CatalogStore
    ) async throws -> Double {
        let clock = ContinuousClock()
        let begin = clock.now
        for page in 0..<(episodes / pageSize) {
            let counts = try await merge(page, into: store)
            guard counts[keyPath: expected] == pageSize else {
                throw MeasuredProcess.Failed(description: "page \(page): \(counts)")
            }
        }
        return (clock.now - begin) / .seconds(1)
    }

    private static func merge(_ page: Int, into store: CatalogStore) async throws -> MergeCounts {
        let book = BookIdentity(source: "demo", id: "30776")
        let sections = (page * pageSize + 1)...((page + 1) * pageSize)
        let listed = sections.map { Episode.sample($0, book: book, size: 9_900_000, duration: 600) }
        return try await store.merge(listed, startingAt: page * pageSize, of: book)
    }
}
