/// What `serve` gives, and what it takes: files beside nginx, many users at once, pages of a large shelf, and those who
/// watch a fetch.
enum ServeFigures: Benchmark {
    static let name = "serve"

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        var result = BenchmarkResult()
        for part in [FileContest.run, ManyListeners.run, FirstBytes.run, WatchedFetch.run] {
            let found = try await part(setting)
            result.rows += found.rows
            result.details += found.details
        }
        return result
    }
}
