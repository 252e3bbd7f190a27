import Foundation
import Support
import Synchronization

/// A fetch of 1,000 episodes by a process of its own, while a hundred clients have the server tell them of it, and while
/// none has.
enum WatchedFetch {
    private static let clients = 100
    private static let files = 1000
    private static let bytes = 1_000_000
    private static let book = "13"
    private static let maxLoss = 0.05

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        try await WebServer.with(setting.workspace) { nginx in
            let catalog = CatalogFiles(workspace: setting.workspace)
            try catalog.writeAudio(of: book, files: files, bytes: bytes)
            defer { setting.workspace.remove("audio/\(book)") }
            try catalog.writePages(
                of: book, episodes: files, bytes: bytes, pageSize: 50, audioAt: "\(nginx.address)/audio/\(book)")
            let configuration = try setting.configuration(catalog: "\(nginx.address)/catalog", pageSize: 50)
            let fetch = Fetch(setting: setting, configuration: configuration)
            var alone: [Double] = []
            var watched: [Double] = []
            var messages: [Double] = []
            var cpu: [Double] = []
            for run in 1...setting.runs {
                record("  run \(run) of \(setting.runs)")
                alone.append(try await fetch.run(clients: 0).wall)
                let seen = try await fetch.run(clients: clients)
                guard seen.isServed else {
                    return BenchmarkResult(rows: [
                        ReportRow(work: "`serve`, events to \(clients) clients", ours: "there are none")
                    ])
                }
                watched.append(seen.wall)
                messages.append(Double(seen.messages))
                cpu.append(seen.cpu)
            }
            let loss = watched.median / alone.median - 1
            return BenchmarkResult(rows: [
                ReportRow(
                    work: "a fetch of \(files) × \(bytes / 1000) KB that \(clients) clients watch through `serve`",
                    ours: """
                        \(decimal(watched.median)) s, \(decimal(loss * 100, 1)) % more; \
                        \(decimal(messages.median / Double(clients), 0)) messages each, \
                        \(decimal(cpu.median)) s of CPU for them
                        """,
                    bestPeer: "unwatched \(decimal(alone.median)) s", ratio: decimal(watched.median / alone.median),
                    limit: verdict("≤ \(Int(maxLoss * 100)) % more", loss <= maxLoss))
            ])
        }
    }

    private struct Outcome {
        var wall: Double
        /// Of the server.
        var cpu: Double
        var messages = 0
        /// Whether there are events at all.
        var isServed = true
    }

    private struct Fetch {
        let setting: Setting
        let configuration: String

        func run(clients: Int) async throws -> Outcome {
            let library = try setting.workspace.emptyFolder("library-\(book)")
            defer { setting.workspace.remove("library-\(book)") }
            // What the clients are to look at is there before they come.
            _ = try setting.measure(
                setting.product.command(
                    ["fetch", "--quiet", "--only", "1", book], configuration: configuration, library: library))
            var (outcome, usage) = try await ServingProcess.with(
                setting, configuration: configuration, library: library
            ) { server in
                guard let audience = try Audience(of: server, clients: clients) else {
                    return Outcome(wall: 0, cpu: 0, isServed: false)
                }
                defer { audience.stop() }
                let wall = try setting.measure(
                    setting.product.command(
                        ["fetch", "--quiet", book], configuration: configuration, library: library)
                ).wall
                return Outcome(wall: wall, cpu: 0, messages: audience.messages)
            }
            outcome.cpu = usage.cpu
            return outcome
        }
    }
}

/// Clients that read events on one thread, which costs next to nothing.
private final class Audience: Sendable {
    private struct State {
        var messages = 0
        var isWanted = true
        var hasEnded = false
    }

    private let state = Mutex(State())

    var messages: Int { state.withLock { $0.messages } }

    /// - Returns: nil when the server has no events.
    init?(of server: ServingProcess, clients: Int) throws {
        var sockets: [Socket] = []
        for _ in 0..<clients {
            let socket = try server.ask(for: "/api/v1/events", ["Accept: text/event-stream"])
            sockets.append(socket)
            guard ServingProcess.status(of: socket.receive()) == 200 else {
                for socket in sockets { socket.close() }
                return nil
            }
        }
        let watched = sockets
        Thread.detachNewThread { self.read(watched) }
    }

    private func read(_ sockets: [Socket]) {
        while state.withLock({ $0.isWanted }) {
            for socket in sockets {
                while let bytes = socket.receiveNow(atMost: 64 << 10), !bytes.isEmpty {
                    // A message ends with an empty line.
                    let ends = zip(bytes, bytes.dropFirst()).count { $0 == 0x0A && $1 == 0x0A }
                    state.withLock { $0.messages += ends }
                }
            }
            usleep(50_000)
        }
        for socket in sockets { socket.close() }
        state.withLock { $0.hasEnded = true }
    }

    /// Returns when the clients are gone.
    func stop() {
        state.withLock { $0.isWanted = false }
        while !state.withLock({ $0.hasEnded }) { usleep(1000) }
    }
}
