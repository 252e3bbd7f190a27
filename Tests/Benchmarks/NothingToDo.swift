import Foundation

/// A run over a book of 5,000 episodes that are all there, without the time that the catalog itself takes: that of
/// curl for the same pages one after the other over one connection.
enum NothingToDo: Benchmark {
    static let name = "nothing"

    private static let episodes = 5000
    private static let bytes = 2000
    private static let pageSize = 50
    private static let limit = 0.3

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        try await WebServer.with(setting.workspace) { server in
            let catalog = CatalogFiles(workspace: setting.workspace)
            try catalog.writeAudio(of: "2", files: episodes, bytes: bytes)
            try catalog.writePages(
                of: "2", episodes: episodes, bytes: bytes, pageSize: pageSize,
                audioAt: "\(server.address)/audio/2")
            let configuration = try setting.configuration(catalog: "\(server.address)/catalog", pageSize: pageSize)
            let library = try setting.workspace.emptyFolder("library-2")
            let fetch = setting.product.command(
                ["fetch", "--book", "2", "--quiet"], configuration: configuration, library: library)
            let first = try setting.measure(fetch)
            guard try Workspace.contents(of: library).files == episodes else {
                throw MeasuredProcess.Failed(description: "the first run did not bring all episodes")
            }
            let pages = try pageList(of: server, catalog: catalog, workspace: setting.workspace)
            var ours: [Measurement] = []
            var curl: [Measurement] = []
            for _ in 1...setting.runs {
                ours.append(try setting.measure(fetch))
                curl.append(try setting.measure(["curl", "-q", "--fail", "--silent", "--config", pages]))
            }
            let beside = ours.wall - curl.wall
            let row = ReportRow(
                work:
                    "nothing to do, \(episodes) episodes on \(catalog.pages(episodes: episodes, pageSize: pageSize)) pages",
                ours: "\(decimal(beside, 3)) s beside the catalog's \(decimal(curl.wall, 3)) s",
                memory: megabytes(ours.peakMemory), limit: verdict("≤ \(limit) s", beside <= limit))
            let setup = ReportRow(
                work: "the first run over it, \(episodes) × 2 KB", ours: "\(decimal(first.wall)) s",
                memory: megabytes(first.peakMemory))
            return BenchmarkResult(rows: [row, setup])
        }
    }

    private static func pageList(
        of server: WebServer, catalog: CatalogFiles, workspace: Workspace
    ) throws -> String {
        let lines = (1...catalog.pages(episodes: episodes, pageSize: pageSize)).map { page in
            """
            url = "\(server.address)/catalog?bookId=2&pageNum=\(page)&pageSize=\(pageSize)"
            output = "/dev/null"
            """
        }
        return try workspace.write(lines.joined(separator: "\n"), to: "pages.txt")
    }
}
