import CatalogFetcher

/// Pages of the book-resource API, 50 episodes each, bytes to records.
enum PageFigures: Benchmark {
    static let name = "pages"

    private static let episodes = 20_000
    private static let pageSize = 50
    private static let limit = 40.0

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        let catalog = CatalogFiles(workspace: setting.workspace)
        try catalog.writePages(
            of: "3", episodes: episodes, bytes: 9_900_000, pageSize: pageSize, audioAt: "http://audio.books.example/3")
        var readings: [CatalogReading] = []
        for _ in 1...setting.runs {
            let folder = "\(setting.workspace.path)/catalog/3"
            readings.append(try CatalogReading.measured(.bookResource, folder: folder, setting))
            guard readings.last?.episodes == episodes else {
                throw MeasuredProcess.Failed(
                    description: "of \(episodes) episodes \(readings.last?.episodes ?? 0) were read")
            }
        }
        let pages = catalog.pages(episodes: episodes, pageSize: pageSize)
        let bytes = megabytes(Int64(readings.first?.bytes ?? 0))
        let speed = readings.speed
        let rate = decimal(Double(episodes) / readings.seconds, 0)
        return BenchmarkResult(rows: [
            ReportRow(
                work: "pages: \(pages) of \(pageSize) episodes, \(bytes), bytes to records",
                ours: "\(decimal(speed, 0)) MB/s (\(rate) episodes a second)",
                memory: megabytes(readings.peakMemory), limit: verdict("≥ \(Int(limit)) MB/s", speed >= limit))
        ])
    }
}
