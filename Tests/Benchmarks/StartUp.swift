/// From nothing to the version and the end.
enum StartUp: Benchmark {
    static let name = "version"

    private static let limit = 0.03

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        // One so short needs more runs to be told apart from what else the machine does.
        let measured = try (1...setting.runs * 5).map { _ in
            try setting.measure([setting.product.executable, "--version"])
        }
        return BenchmarkResult(rows: [
            ReportRow(
                work: "`--version`", ours: "\(decimal(measured.wall * 1000, 1)) ms",
                memory: megabytes(measured.peakMemory), limit: verdict("≤ 30 ms", measured.wall <= limit))
        ])
    }
}
