import Foundation
import Support

/// Two hundred clients that take a file as fast as it is played, 64 kB a second each, for ten seconds.
enum ManyListeners {
    private static let listeners = 200
    /// Bytes a second for each.
    private static let rate = 64_000
    private static let seconds = 10.0
    private static let fileBytes = 120_000_000
    private static let book = "12"
    private static let maxMemory: Int64 = 120_000_000
    private static let maxCPU = 0.15

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        let (configuration, library) = try await WebServer.with(setting.workspace) { nginx in
            try ServedFile.make(setting, book: book, bytes: fileBytes, at: nginx)
        }
        defer { ServedFile.remove(setting, book: book) }
        var cores: [Double] = []
        var peaks: [Int64] = []
        // Their ten seconds are an average already.
        for _ in 1...min(3, setting.runs) {
            let (received, usage) = try await ServingProcess.with(
                setting, configuration: configuration, library: library
            ) { try listen(to: $0) }
            let wanted = Double(listeners * rate) * seconds
            guard Double(received) > 0.95 * wanted else {
                throw MeasuredProcess.Failed(description: "the listeners got \(received) bytes of \(Int(wanted))")
            }
            cores.append(usage.cpu / seconds)
            peaks.append(usage.peakMemory)
        }
        let peak = peaks.max() ?? 0
        let gibibytes = Double(listeners * rate) * seconds / Double(1 << 30)
        return BenchmarkResult(rows: [
            ReportRow(
                work: "`serve`, \(listeners) listeners at \(rate / 1000) kB/s for \(Int(seconds)) s",
                ours: "\(decimal(cores.median * 100, 1)) % of a core",
                cpu: decimal(cores.median * seconds / gibibytes), memory: megabytes(peak),
                limit: verdict("≤ \(megabytes(maxMemory))", peak <= maxMemory) + "; "
                    + verdict("≤ \(Int(maxCPU * 100)) % of a core", cores.median <= maxCPU))
        ])
    }

    /// - Returns: bytes received.
    private static func listen(to server: ServingProcess) throws -> Int {
        var sockets: [Socket] = []
        defer { for socket in sockets { socket.close() } }
        for index in 0..<listeners {
            let range = "Range: bytes=\(index * (fileBytes / 2 / listeners))-"
            // A player's own buffer; the kernel must not take the file in its place.
            sockets.append(
                try server.ask(for: ServedFile.path(of: book), [range], receiveBuffer: 64 << 10))
        }
        let begin = ContinuousClock.now
        var received = [Int](repeating: 0, count: sockets.count)
        while true {
            let elapsed = (ContinuousClock.now - begin) / .seconds(1)
            for (index, socket) in sockets.enumerated() {
                let due = Int(min(elapsed, seconds) * Double(rate)) - received[index]
                guard due > 0 else { continue }
                guard let bytes = socket.receiveNow(atMost: due) else {
                    throw MeasuredProcess.Failed(description: "a listener was cut off")
                }
                received[index] += bytes.count
            }
            if elapsed >= seconds { return received.reduce(0, +) }
            usleep(50_000)
        }
    }
}
