import Foundation

/// A far ``Relay`` in a process of its own, since what is under way through it needs memory.
struct FarRelay {
    static let childFlag = "--far-relay"

    let address: String
    private let log: String

    /// Runs a relay to the server that delays every byte in either direction, for as long as the body takes.
    static func with<Answer>(
        _ setting: Setting, to server: WebServer, milliseconds: Int, _ body: (FarRelay) async throws -> Answer
    ) async throws -> Answer {
        let log = "\(setting.workspace.path)/relay.log"
        let executable = Bundle.main.executablePath ?? CommandLine.arguments[0]
        let process = try MeasuredProcess.start(
            [executable, childFlag, "\(server.port)", "\(milliseconds)"], log: log)
        defer {
            kill(process, SIGTERM)
            _ = Result { try MeasuredProcess.wait(for: process) }
        }
        for _ in 0..<1000 {
            if let port = try lines(of: log).first {
                return try await body(FarRelay(address: "http://127.0.0.1:\(port)", log: log))
            }
            usleep(10_000)
        }
        throw MeasuredProcess.Failed(description: "the relay does not start")
    }

    /// Connections accepted up to now.
    var connections: Int {
        get throws { try Self.lines(of: log).count - 1 }
    }

    private static func lines(of log: String) throws -> [Substring] {
        try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
    }

    /// Prints its port, then a line for each connection.
    static func child(_ arguments: [String]) throws {
        guard arguments.count == 2, let server = Int(arguments[0]), let milliseconds = Int(arguments[1]) else {
            throw MeasuredProcess.Failed(description: "\(childFlag) is the benchmark's own")
        }
        let parent = getppid()
        let relay = try Relay.start(to: server, .far(milliseconds: milliseconds)) { say("connection") }
        say("\(relay.port)")
        // Not longer than the one who wanted it.
        while getppid() == parent { sleep(1) }
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
