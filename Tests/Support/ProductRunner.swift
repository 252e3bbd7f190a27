import Foundation

/// Runs the `booksync` that was built beside the tests, as a process of its own.
package enum ProductRunner {
    /// What a finished run left behind.
    package struct Result: Sendable {
        /// The exit code; nil when a signal ended the process.
        package var exitCode: Int32?
        /// The signal that ended the process.
        package var signal: Int32?
        package var output: String
        package var errors: String

        package var outputLines: [String] { lines(of: output) }
        package var errorLines: [String] { lines(of: errors) }

        private func lines(of text: String) -> [String] {
            text.split(separator: "\n").map(String.init)
        }
    }

    /// The executable; nil when it was not built.
    package static var executable: URL? {
        let name = "booksync"
        var candidates = CommandLine.arguments.prefix(1).map { URL(filePath: $0).deletingLastPathComponent() }
        for configuration in ["debug", "release"] {
            candidates.append(Corpus.repository.appending(path: ".build/\(configuration)"))
        }
        return candidates.map { $0.appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Runs it to its end.
    /// - Parameter environment: added to an environment that holds nothing of the tester's own: PATH, a HOME that is the
    ///   working folder, UTF-8.
    package static func run(
        _ arguments: [String], environment: [String: String] = [:], in folder: URL
    ) async throws -> Result {
        try await withProduct(arguments, environment: environment, in: folder) { try await $0.result() }
    }
}

/// Runs the product (or another executable) beside the body; what still runs when the body ends is killed.
package func withProduct<Answer>(
    _ arguments: [String], environment: [String: String] = [:], in folder: URL,
    executable: URL? = ProductRunner.executable, isolation: isolated (any Actor)? = #isolation,
    _ body: (RunningProduct) async throws -> Answer
) async throws -> Answer {
    guard let executable else { throw ProductNotBuilt() }
    let product = try await onThread {
        unblockSignals()
        return try RunningProduct(executable, arguments, environment, folder)
    }
    do {
        let answer = try await body(product)
        await product.kill()
        return answer
    } catch {
        await product.kill()
        throw error
    }
}

/// A process inherits the signal mask of the thread that starts it, and the threads of the cooperative pool block them
/// all: a child of theirs would never see the Ctrl-C of a test.
private func unblockSignals() {
    var none = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, nil)
}

/// The product while it runs.
package final class RunningProduct: Sendable {
    private struct State: Sendable {
        var output: [UInt8] = []
        var errors: [UInt8] = []
        var openPipes = 2
        var exitCode: Int32?
        var signal: Int32?

        var isOver: Bool { (exitCode != nil || signal != nil) && openPipes == 0 }
    }

    package let processIdentifier: Int32
    private let watched: Watched<State>

    fileprivate init(
        _ executable: URL, _ arguments: [String], _ environment: [String: String], _ folder: URL
    ) throws {
        let watched = Watched(State())
        let output = Pipe()
        let errors = Pipe()
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": folder.path,
            "LANG": "C.UTF-8", "SWIFT_BACKTRACE": "enable=no",
        ].merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        process.terminationHandler = { process in
            let status = process.terminationStatus
            let wasSignalled = process.terminationReason == .uncaughtSignal
            watched.update {
                if wasSignalled { $0.signal = status } else { $0.exitCode = status }
            }
        }
        try process.run()
        self.processIdentifier = process.processIdentifier
        self.watched = watched
        // Threads of their own: a pipe that nobody reads fills up and holds the process.
        Self.read(output) { part in
            watched.update { $0.output += part }
        } atEnd: {
            watched.update { $0.openPipes -= 1 }
        }
        Self.read(errors) { part in
            watched.update { $0.errors += part }
        } atEnd: {
            watched.update { $0.openPipes -= 1 }
        }
    }

    private static func read(
        _ pipe: Pipe, _ take: @escaping @Sendable ([UInt8]) -> Void, atEnd: @escaping @Sendable () -> Void
    ) {
        Thread.detachNewThread {
            while true {
                let part = pipe.fileHandleForReading.availableData
                if part.isEmpty { break }
                take(Array(part))
            }
            atEnd()
        }
    }

    /// Sends a signal; does nothing once the process is over.
    package func send(signal: Int32) {
        guard watched.value.exitCode == nil, watched.value.signal == nil else { return }
        _ = Foundation.kill(processIdentifier, signal)
    }

    /// Waits for a whole line on stdout that contains the text, and returns it.
    @discardableResult
    package func waitForOutput(containing text: String, within seconds: Double = 30) async throws -> String {
        try await line(of: \.output, containing: text, within: seconds)
    }

    /// Waits for a whole line on stderr that contains the text, and returns it.
    @discardableResult
    package func waitForErrors(containing text: String, within seconds: Double = 30) async throws -> String {
        try await line(of: \.errors, containing: text, within: seconds)
    }

    /// Waits until the process is over and all that it wrote was read.
    package func result(within seconds: Double = 120) async throws -> ProductRunner.Result {
        let state = try await watched.waitUntil(within: seconds) { $0.isOver }
        return ProductRunner.Result(
            exitCode: state.exitCode, signal: state.signal, output: String(decoding: state.output, as: UTF8.self),
            errors: String(decoding: state.errors, as: UTF8.self))
    }

    fileprivate func kill() async {
        send(signal: SIGKILL)
        // A task of its own: the present one may be cancelled, and must wait nevertheless.
        _ = await Task { [watched] in try await watched.waitUntil { $0.exitCode != nil || $0.signal != nil } }.result
    }

    private func line(
        of stream: @escaping @Sendable (State) -> [UInt8], containing text: String, within seconds: Double
    ) async throws -> String {
        @Sendable func found(_ state: State) -> String? {
            let bytes = stream(state)
            guard let end = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return nil }
            return String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\n")
                .first { $0.contains(text) }.map(String.init)
        }
        let state = try await watched.waitUntil(within: seconds) { found($0) != nil || $0.isOver }
        guard let line = found(state) else { throw LineNeverCame(text: text, errors: state.errors) }
        return line
    }
}

/// The tests run without the product beside them.
package struct ProductNotBuilt: Error, CustomStringConvertible {
    package let description = "there is no executable 'booksync' beside the tests; `swift build` makes it"
}

/// The process ended without writing the line.
package struct LineNeverCame: Error, CustomStringConvertible {
    let text: String
    let errors: [UInt8]

    package var description: String {
        "the process ended without a line that contains '\(text)'; it wrote: \(String(decoding: errors, as: UTF8.self))"
    }
}
