import BookModel
import Foundation
import LibraryFiles
import Synchronization

/// Tells how far a join is, by what its programs have written.
final class JoinMeter: Sendable {
    private struct State {
        var board: FileBoard
        /// The file that is written → its name, bytes of what it is made of, and how large it becomes.
        var running: [String: (name: String, bytes: Int64, size: Int64)] = [:]
    }

    private let state: Mutex<State>
    private let report: @Sendable (ProgressState) -> Void

    init(_ files: [LocalFile], report: @escaping @Sendable (ProgressState) -> Void) {
        state = Mutex(State(board: FileBoard(files)))
        self.report = report
    }

    /// Runs the body and tells meanwhile, twice a second.
    func telling<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        async let _: Void = {
            while !Task.isCancelled {
                tell()
                try? await Task.sleep(for: .milliseconds(500))
            }
        }()
        defer { tell() }
        return try await body()
    }

    /// Runs what writes a file of others; from its end on they count as done, in one step, so that a join never seems to go back.
    /// - Parameter size: about as large as it becomes.
    func writing<Value>(
        _ path: String, named name: String, of files: ArraySlice<LocalFile>, size: Int64,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let bytes = files.saturatedSum(of: \.size)
        state.withLock { $0.running[path] = (name, bytes, max(1, size)) }
        defer {
            state.withLock { state in
                state.running[path] = nil
                state.board.finish(files)
            }
        }
        return try await body()
    }

    func finish(_ files: ArraySlice<LocalFile>) { state.withLock { $0.board.finish(files) } }

    private func tell() {
        report(
            state.withLock { state in
                let running = state.running.sorted { $0.key < $1.key }.map { path, file in
                    let done = min(1, Double(fileSize(path) ?? 0) / Double(file.size))
                    let bytes = ByteProgress(bytesDone: Int64(clamping: Double(file.bytes) * done), total: file.bytes)
                    return ProgressState.Transfer(name: file.name, bytes: bytes)
                }
                return state.board.state(running: running, at: .now)
            })
    }
}
