import Foundation
import Support

/// How long a client waits for the first byte of what is made of a large shelf: 2,000 books, one of them with 5,000
/// episodes. Each request comes on a connection of its own.
enum FirstBytes {
    private struct Work {
        let title: String
        let path: String
        var isLimited = false
    }

    private static let works = [
        Work(title: "the shelf's page", path: "/", isLimited: true),
        Work(title: "a book's page", path: "/books/\(ReadableShelf.longBook)", isLimited: true),
        Work(title: "`/feeds/` of the same book", path: "/feeds/\(ReadableShelf.longBook).xml"),
        Work(title: "`/feeds/all.opml`", path: "/feeds/all.opml"),
        Work(title: "`/api/v1/books`", path: "/api/v1/books"),
        Work(title: "`/api/v1/` a book's episodes", path: "/api/v1/books/\(ReadableShelf.longBook)/episodes"),
        Work(title: "`/api/v1/` nothing", path: "/api/v1/books/bench/0"),
    ]
    /// Seconds.
    private static let limit = 0.05
    private static let requests = 40

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        let library = try setting.workspace.emptyFolder("library-first-bytes")
        defer { setting.workspace.remove("library-first-bytes") }
        _ = try setting.measure(
            [Bundle.main.executablePath ?? CommandLine.arguments[0], ReadableShelf.childFlag, library])
        let configuration = try setting.configuration(catalog: "http://127.0.0.1:9/catalog", pageSize: 50)
        let (rows, usage) = try await ServingProcess.with(setting, configuration: configuration, library: library) {
            server in
            try works.map { try row($0, server, requests: requests * setting.runs) }
        }
        var result = BenchmarkResult(rows: rows)
        result.rows[0].memory = megabytes(usage.peakMemory)
        return result
    }

    private static func row(_ work: Work, _ server: ServingProcess, requests: Int) throws -> ReportRow {
        var seconds: [Double] = []
        var status = 0
        var bytes = 0
        // The first ones warm up.
        for request in -3..<requests {
            let begin = ContinuousClock.now
            let socket = try server.ask(for: work.path)
            defer { socket.close() }
            var part = socket.receive()
            if request >= 0 { seconds.append((ContinuousClock.now - begin) / .seconds(1)) }
            status = ServingProcess.status(of: part)
            bytes = 0
            while !part.isEmpty {
                bytes += part.count
                part = socket.receive()
            }
        }
        let sorted = seconds.sorted()
        let late = sorted[min(sorted.count - 1, sorted.count * 95 / 100)]
        func milliseconds(_ seconds: Double) -> String { "\(decimal(seconds * 1000, 1)) ms" }
        let title = "`serve`, first byte of \(work.title) (\(bytes / 1000) kB)"
        guard status == 200 || !work.isLimited else {
            return ReportRow(work: title, ours: "status \(status)", limit: "not compared")
        }
        return ReportRow(
            work: title, ours: "\(milliseconds(sorted.median)), 95 % within \(milliseconds(late))",
            limit: work.isLimited ? verdict("≤ \(milliseconds(limit))", late <= limit) : "")
    }
}
