import Foundation
import Subprocess

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

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

    /// The executable, which `BOOKSYNC_EXECUTABLE` may name; nil when it was not built.
    package static var executable: URL? {
        if let given = ProcessInfo.processInfo.environment["BOOKSYNC_EXECUTABLE"] { return URL(filePath: given) }
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
    ///   working folder, UTF-8, and what a sanitizer or the counting of coverage was told.
    package static func run(
        _ arguments: [String], environment: [String: String] = [:], in folder: URL
    ) async throws -> Result {
        try await withProduct(arguments, environment: environment, in: folder) { try await $0.result() }
    }

    /// Whether a program is there, may be run and exits with 0: asked before a test that cannot do without it.
    package static func succeeds(_ executable: URL, _ arguments: [String]) async -> Bool {
        let result = try? await withProduct(arguments, in: URL(filePath: "/"), executable: executable) {
            try await $0.result()
        }
        return result?.exitCode == 0
    }
}

/// Runs the product (or another executable) beside the body; what still runs when the body ends is killed.
package func withProduct<Answer>(
    _ arguments: [String], environment: [String: String] = [:], in folder: URL,
    executable: URL? = ProductRunner.executable, isolation: isolated (any Actor)? = #isolation,
    _ body: (RunningProduct) async throws -> Answer
) async throws -> Answer {
    guard let executable else { throw ProductNotBuilt() }
    let product = try await RunningProduct(executable, arguments, environment, folder)
    do {
        let answer = try await body(product)
        await product.end()
        return answer
    } catch {
        await product.end()
        throw error
    }
}

/// The product while it runs.
package final class RunningProduct: Sendable {
    private struct State: Sendable, CustomStringConvertible {
        var processIdentifier: Int32?
        var output: [UInt8] = []
        var errors: [UInt8] = []
        var status: TerminationStatus?
        /// Why it could not be started or watched.
        var failure: String?

        var isOver: Bool { status != nil || failure != nil }

        var description: String {
            let (output, errors) = (String(decoding: output, as: UTF8.self), String(decoding: errors, as: UTF8.self))
            return "status \(String(describing: status)), output \(output.suffix(900)), errors \(errors.suffix(900))"
        }
    }

    package let processIdentifier: Int32
    private let watched: Watched<State>
    private let task: Task<Void, Never>

    fileprivate init(
        _ executable: URL, _ arguments: [String], _ environment: [String: String], _ folder: URL
    ) async throws {
        ConcurrencyLimit.requireSlot(for: "a process")
        func key(_ name: String) throws -> Environment.Key {
            guard let key = Environment.Key(rawValue: name) else {
                throw NotRun(why: "no variable is called '\(name)'")
            }
            return key
        }
        let testers = ProcessInfo.processInfo.environment
        let variables = [
            "PATH": testers["PATH"] ?? "/usr/bin:/bin", "HOME": folder.path, "LANG": "C.UTF-8",
            "SWIFT_BACKTRACE": "enable=no", "BOOKSYNC_PROBE": "off",
        ].merging(testers.filter { ["TSAN_OPTIONS", "ASAN_OPTIONS", "LLVM_PROFILE_FILE"].contains($0.key) }) { $1 }
            .merging(environment) { $1 }
        let configuration = Configuration(
            executable: .path(FilePath(executable.path)), arguments: Arguments(arguments),
            environment: .custom(try variables.reduce(into: [:]) { $0[try key($1.key)] = $1.value }),
            workingDirectory: FilePath(folder.path))
        let watched = Watched(State())
        self.task = Task {
            do {
                let result = try await run(
                    configuration, input: .none, output: .sequence, error: .sequence
                ) { running in
                    watched.update { $0.processIdentifier = running.processIdentifier.value }
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask {
                            for try await part in running.standardOutput {
                                part.withUnsafeBytes { part in watched.update { $0.output += part } }
                            }
                        }
                        for try await part in running.standardError {
                            part.withUnsafeBytes { part in watched.update { $0.errors += part } }
                        }
                        try await group.waitForAll()
                    }
                }
                watched.update { $0.status = result.terminationStatus }
            } catch {
                watched.update { $0.failure = String(describing: error) }
            }
        }
        let state = try await watched.waitUntil { $0.processIdentifier != nil || $0.failure != nil }
        guard let processIdentifier = state.processIdentifier else { throw NotRun(why: state.failure ?? "") }
        self.processIdentifier = processIdentifier
        self.watched = watched
    }

    /// Sends a signal; does nothing once the process is over.
    package func send(signal: Int32) {
        guard !watched.value.isOver else { return }
        _ = kill(processIdentifier, signal)
    }

    /// Waits for a whole line on stdout that contains all the texts, and returns it.
    @discardableResult
    package func waitForOutput(containing texts: String...) async throws -> String {
        try await line(of: \.output, containing: texts)
    }

    /// Waits for a whole line on stderr that contains the text, and returns it.
    @discardableResult
    package func waitForErrors(containing text: String) async throws -> String {
        try await line(of: \.errors, containing: [text])
    }

    /// Waits until the port of this machine can be connected to; a process that is over before is an error with what it wrote.
    package func waitUntilListening(on port: Int) async throws {
        try await waitUntil("port \(port) can be connected to") {
            if watched.value.isOver { throw NotRun(why: "it ended before it listened: \(watched.value)") }
            return (try? Socket.connected(port: port))?.close() != nil
        }
    }

    /// Waits until the process is over and all that it wrote was read.
    package func result(within seconds: Double = HangGuard.seconds) async throws -> ProductRunner.Result {
        let state = try await watched.waitUntil(within: seconds) { $0.isOver }
        if let failure = state.failure { throw NotRun(why: failure) }
        var result = ProductRunner.Result(
            output: String(decoding: state.output, as: UTF8.self),
            errors: String(decoding: state.errors, as: UTF8.self))
        switch state.status {
        case .exited(let code): result.exitCode = code
        case .signaled(let signal): result.signal = signal
        case nil: break
        }
        return result
    }

    /// Kills it, where it still runs, and waits for its end.
    fileprivate func end() async {
        task.cancel()
        await task.value
    }

    private func line(
        of stream: @escaping @Sendable (State) -> [UInt8], containing texts: [String]
    ) async throws -> String {
        @Sendable func found(_ state: State) -> String? {
            let bytes = stream(state)
            guard let end = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return nil }
            return String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\n")
                .first { line in texts.allSatisfy { line.contains($0) } }.map(String.init)
        }
        let state = try await watched.waitUntil { found($0) != nil || $0.isOver }
        guard let line = found(state) else { throw LineNeverCame(texts: texts, errors: state.errors) }
        return line
    }
}

/// The tests run without the product beside them.
package struct ProductNotBuilt: Error, CustomStringConvertible {
    package let description = "there is no executable 'booksync' beside the tests; `swift build` makes it"
}

/// The process could not be started, or not be watched to its end.
package struct NotRun: Error, CustomStringConvertible {
    let why: String

    package var description: String { "the process was not run: \(why)" }
}

/// The process ended without writing the line.
package struct LineNeverCame: Error, CustomStringConvertible {
    let texts: [String]
    let errors: [UInt8]

    package var description: String {
        "the process ended without a line that contains \(texts); it wrote: \(String(decoding: errors, as: UTF8.self))"
    }
}
