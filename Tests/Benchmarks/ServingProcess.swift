import Foundation
import Support

/// A `booksync serve` that is measured from its start to its end.
struct ServingProcess {
    /// What it took.
    struct Usage {
        /// Seconds.
        var cpu: Double
        /// Bytes.
        var peakMemory: Int64
    }

    let port: Int

    var address: String { "http://127.0.0.1:\(port)" }

    /// Serves the library while the body runs.
    static func with<Answer>(
        _ setting: Setting, configuration: String, library: String, _ body: (ServingProcess) async throws -> Answer
    ) async throws -> (answer: Answer, usage: Usage) {
        let log = "\(setting.workspace.path)/serve.log"
        let process = try MeasuredProcess.start(
            setting.product.command(
                ["serve", "--listen", "127.0.0.1:0"], configuration: configuration, library: library), log: log)
        let outcome: Result<Answer, any Error>
        do {
            let server = ServingProcess(port: try waitUntilServing(process, log: log))
            outcome = .success(try await body(server))
        } catch {
            outcome = .failure(error)
        }
        kill(process, SIGTERM)
        let (_, usage) = try MeasuredProcess.wait(for: process)
        return (
            try outcome.get(),
            Usage(cpu: MeasuredProcess.cpu(usage), peakMemory: MeasuredProcess.peakMemory(usage))
        )
    }

    /// - Returns: the port, once requests are answered.
    private static func waitUntilServing(_ process: pid_t, log: String) throws -> Int {
        for _ in 0..<1000 where !MeasuredProcess.hasEnded(process) {
            let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
            let address = text.split(separator: "\n").first { $0.hasPrefix("http://") }
            if let port = address?.split(separator: ":").last.flatMap({ Int($0) }) { return port }
            usleep(10_000)
        }
        let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
        throw MeasuredProcess.Failed(description: "booksync serve does not start: \(text)")
    }

    // MARK: Requests

    /// Asks for something on a connection of its own.
    /// - Parameters:
    ///   - fields: `Name: value`
    ///   - receiveBuffer: bytes that the kernel is to hold of the answer; nil for its own choice.
    func ask(for path: String, _ fields: [String] = [], receiveBuffer: Int? = nil) throws -> Socket {
        let socket = try Socket.connected(port: port, receiveBuffer: receiveBuffer)
        let lines = ["GET \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close"] + fields + ["", ""]
        let request = Array(lines.joined(separator: "\r\n").utf8)
        guard socket.send(request[...]) == request.count else {
            socket.close()
            throw MeasuredProcess.Failed(description: "the server takes no request for \(path)")
        }
        return socket
    }

    /// The status of an answer by its first bytes; 0 when they are none.
    static func status(of answer: [UInt8]) -> Int {
        String(decoding: answer.prefix(64), as: UTF8.self).split(separator: " ").dropFirst().first
            .flatMap { Int($0.prefix(3)) } ?? 0
    }
}
