import Foundation

/// 100 MB of a file by a range over loopback, to one client and to four at once, beside nginx; curl throws them away.
enum FileContest {
    private static let minSpeed = 0.7
    private static let fileBytes = 120_000_000
    private static let range = 10_000_000..<110_000_000
    private static let book = "11"

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        try await WebServer.with(setting.workspace) { nginx in
            let (configuration, library) = try ServedFile.make(setting, book: book, bytes: fileBytes, at: nginx)
            defer { ServedFile.remove(setting, book: book) }
            let theirs = "\(nginx.address)/audio/\(book)/1.mp3"
            var result = BenchmarkResult()
            for clients in [1, 4] {
                // A server of its own for each, by whose end its own part is known.
                let (walls, usage) = try await ServingProcess.with(
                    setting, configuration: configuration, library: library
                ) { server in
                    try contest(setting, [server.address + ServedFile.path(of: book), theirs], clients: clients)
                }
                result.rows.append(row(setting, clients, ours: walls[0], theirs: walls[1], usage))
            }
            return result
        }
    }

    /// - Returns: seconds of each run for each address, until all clients had theirs.
    private static func contest(_ setting: Setting, _ addresses: [String], clients: Int) throws -> [[Double]] {
        var walls = [[Double]](repeating: [], count: addresses.count)
        for run in 0...setting.runs {
            for (index, address) in addresses.enumerated() {
                let wall = try fetch(setting, address, clients: clients)
                // The first fills caches.
                if run > 0 { walls[index].append(wall) }
            }
        }
        return walls
    }

    private static func fetch(_ setting: Setting, _ address: String, clients: Int) throws -> Double {
        let begin = ContinuousClock.now
        let processes = try (1...clients).map { client in
            try MeasuredProcess.start(
                [
                    "curl", "-q", "--fail", "--silent", "--show-error", "--range",
                    "\(range.lowerBound)-\(range.upperBound - 1)", "--output", "/dev/null", "--write-out",
                    "%{http_code} %{size_download}", address,
                ], log: "\(setting.workspace.log).\(client)")
        }
        let ends = try processes.map { try MeasuredProcess.wait(for: $0).status }
        let wall = (ContinuousClock.now - begin) / .seconds(1)
        for (index, status) in ends.enumerated() {
            let log = FileManager.default.contents(atPath: "\(setting.workspace.log).\(index + 1)") ?? Data()
            let said = String(decoding: log, as: UTF8.self)
            guard status == 0, said == "206 \(range.count)" else {
                throw MeasuredProcess.Failed(description: "\(address) gave \(said)")
            }
        }
        return wall
    }

    private static func row(
        _ setting: Setting, _ clients: Int, ours: [Double], theirs: [Double], _ usage: ServingProcess.Usage
    ) -> ReportRow {
        let bytes = Double(range.count * clients)
        let speed = theirs.median / ours.median
        func text(_ walls: [Double]) -> String {
            "\(decimal(walls.median, 3)) s (\(decimal(bytes / walls.median / 1e6, 0)) MB/s)"
        }
        let gibibytes = bytes * Double(setting.runs + 1) / Double(1 << 30)
        return ReportRow(
            work: "`serve`, 100 MB by range, \(clients == 1 ? "one client" : "\(clients) clients at once")",
            ours: text(ours), bestPeer: "nginx \(text(theirs))", ratio: decimal(ours.median / theirs.median),
            cpu: decimal(usage.cpu / gibibytes), memory: megabytes(usage.peakMemory),
            limit: verdict("≥ \(minSpeed) × nginx's speed", speed >= minSpeed))
    }
}

/// A library with a book of one file, fetched for the purpose.
enum ServedFile {
    static func make(
        _ setting: Setting, book: String, bytes: Int, at server: WebServer
    ) throws -> (configuration: String, library: String) {
        let library = try setting.workspace.emptyFolder("library-\(book)")
        let catalog = CatalogFiles(workspace: setting.workspace)
        try catalog.writeAudio(of: book, files: 1, bytes: bytes)
        try catalog.writePages(
            of: book, episodes: 1, bytes: bytes, pageSize: 50, audioAt: "\(server.address)/audio/\(book)")
        let configuration = try setting.configuration(catalog: "\(server.address)/catalog", pageSize: 50)
        _ = try setting.measure(
            setting.product.command(["fetch", "--quiet", book], configuration: configuration, library: library))
        return (configuration, library)
    }

    /// Of the one file, as ``CatalogFiles`` calls it.
    static func path(of book: String) -> String { "/media/bench/\(book)/\(book)\(100_001).mp3" }

    static func remove(_ setting: Setting, book: String) {
        setting.workspace.remove("audio/\(book)")
        setting.workspace.remove("library-\(book)")
    }
}
