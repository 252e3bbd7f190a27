import Foundation

/// A cron job's usual night: a mirror over many feeds of which none has anything new, without the time that curl takes for
/// the same conditional requests one after the other over one connection.
enum QuietNight: Benchmark {
    static let name = "night"

    private static let books = 200
    private static let episodes = 500
    /// Seconds beside the network, and bytes.
    private static let limit = 3.0
    private static let maxMemory: Int64 = 80_000_000

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        try await WebServer.with(setting.workspace) { server in
            _ = try setting.workspace.emptyFolder("audio")
            _ = try setting.workspace.emptyFolder("catalog/feeds")
            let audio = Data([0xFF, 0xFB, 0x90, 0x64] + [UInt8](repeating: 0x55, count: 1996))
            try audio.write(to: URL(filePath: "\(setting.workspace.path)/audio/same"))
            for book in 1...books { try writeFeed(book, server: server, workspace: setting.workspace) }
            let configuration = try configuration(server: server, workspace: setting.workspace)
            let library = try setting.workspace.emptyFolder("library-night")
            let mirror = setting.product.command(["mirror", "--quiet"], configuration: configuration, library: library)
            record("\(books * episodes) episodes are fetched first …")
            _ = try setting.measure(mirror)
            guard try Workspace.contents(of: library).files == books * episodes else {
                throw MeasuredProcess.Failed(description: "the first run did not bring all episodes")
            }
            let feeds = try await conditionalRequests(server: server, workspace: setting.workspace)
            var ours: [Measurement] = []
            var curl: [Measurement] = []
            for _ in 1...setting.runs {
                ours.append(try setting.measure(mirror))
                curl.append(try setting.measure(["curl", "-q", "--fail", "--silent", "--config", feeds]))
            }
            let beside = ours.wall - curl.wall
            let row = ReportRow(
                work: "mirror of \(books) feeds of \(episodes) episodes, nothing new",
                ours: "\(decimal(beside, 2)) s beside the network's \(decimal(curl.wall, 2)) s",
                memory: megabytes(ours.peakMemory),
                limit: verdict(
                    "≤ \(limit) s, ≤ \(megabytes(maxMemory))",
                    beside <= limit && ours.peakMemory <= maxMemory))
            return BenchmarkResult(rows: [row])
        }
    }

    private static func address(_ book: Int, of server: WebServer) -> String {
        "\(server.address)/catalog/feeds/\(book).xml"
    }

    private static func writeFeed(_ book: Int, server: WebServer, workspace: Workspace) throws {
        var text = "<rss version=\"2.0\"><channel><title>Book \(book)</title>"
        for episode in (1...episodes).reversed() {
            text += """
                <item><title>第\(episode)集_山中的故事</title><guid>g-\(book)-\(episode)</guid>\
                <enclosure url="\(server.address)/same/\(book)/\(episode).mp3" length="2000" type="audio/mpeg"/></item>
                """
        }
        _ = try workspace.write(text + "</channel></rss>", to: "catalog/feeds/\(book).xml")
    }

    private static func configuration(server: WebServer, workspace: Workspace) throws -> String {
        let subscriptions = (1...books).map { "  - book: \(address($0, of: server))" }
        return try workspace.write(
            """
            downloads: { jobs: 8, jobs-per-host: 8 }
            sources:
              feeds: { type: feed, allow-private-addresses: true }
            subscriptions:
            \(subscriptions.joined(separator: "\n"))
            """, to: "config-night.yaml")
    }

    /// curl's configuration that asks for each feed with the tag that the server gave it.
    private static func conditionalRequests(server: WebServer, workspace: Workspace) async throws -> String {
        let requests = (1...books).map { book in
            """
            url = "\(address(book, of: server))"
            etag-compare = "\(workspace.path)/tag-\(book)"
            output = "/dev/null"
            """
        }
        for book in 1...books {
            let command = [
                "curl", "-q", "--fail", "--silent", "--output", "/dev/null", "--etag-save",
                "\(workspace.path)/tag-\(book)", address(book, of: server),
            ]
            _ = try MeasuredProcess.run(command, log: workspace.log)
        }
        return try workspace.write(requests.joined(separator: "\nnext\n"), to: "feeds.txt")
    }
}
