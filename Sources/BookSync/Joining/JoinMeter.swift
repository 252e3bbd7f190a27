import BookModel
import Foundation
import LibraryFiles
import Synchronization

/// Tells how far a join is, by what its programs have written.
final class JoinMeter: Sendable {
    private struct State {
        var board: VerificationBoard
        /// The file that is written → what it is made of, in bytes, and how large it becomes.
        var running: [String: (name: String, bytes: Int64, size: Int64)] = [:]
    }

    private let state: Mutex<State>
    private let emit: @Sendable (LibraryVerification.Event) -> Void

    init(_ files: [LocalFile], emit: @escaping @Sendable (LibraryVerification.Event) -> Void) {
        state = Mutex(State(board: VerificationBoard(files: files.count, bytes: files.reduce(0) { $0 + $1.size })))
        self.emit = emit
    }

    /// Runs the body and tells meanwhile, twice a second.
    func telling<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        async let _: Void = {
            while !Task.isCancelled {
                tell()
                try? await Task.sleep(for: .milliseconds(500))
            }
        }()
        let value = try await body()
        tell()
        return value
    }

    /// Runs what writes a file.
    func writing<Value: Sendable>(
        _ path: String, of files: ArraySlice<LocalFile>, named name: String, size: Int64,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let bytes = files.reduce(0) { $0 + $1.size }
        state.withLock { $0.running[path] = (name, bytes, max(1, size)) }
        defer { state.withLock { $0.running[path] = nil } }
        return try await body()
    }

    func finish(_ files: ArraySlice<LocalFile>) {
        state.withLock { state in for file in files { state.board.record(.intact, of: file) } }
    }

    private func tell() {
        let progress = state.withLock { state in
            let reading = state.running.sorted { $0.key < $1.key }.map { path, file in
                let done = min(1, Double(fileSize(path) ?? 0) / Double(file.size))
                return (name: file.name, bytes: Int64(Double(file.bytes) * done), total: file.bytes)
            }
            state.board.advance(reading, at: .now)
            return state.board.state(at: .now)
        }
        emit(.progressed(progress))
    }
}
