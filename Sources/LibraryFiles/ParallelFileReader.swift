import BookModel
import Foundation
import Synchronization

/// Looks into many files at once, on a thread of its own for each core.
///
/// The threads take one file after the other in the order given; what they find is handed on in parts, each as large as it
/// became while the part before was being dealt with.
package struct ParallelFileReader: Sendable {
    /// An absolute path, and the bytes that the file must have.
    package typealias Question = (path: String, size: Int64)

    /// What has come since the last part.
    package struct Part: Sendable {
        /// The indices of questions, each with its answer.
        package var answers: [(fileIndex: Int, look: FileCheck)] = []
        /// The indices of the questions whose files are being read, in the order in which that began, each with the bytes
        /// read of it.
        package var reading: [(fileIndex: Int, bytes: Int64)] = []
    }

    /// Bytes of a file between two words about it.
    private static let stride = 4 << 20

    /// Returns when all is answered; or, cancelled, within a read or so: what was answered by then was handed on.
    /// - Parameter deal: is called for one part after the other, and not interrupted by cancellation.
    /// - Throws: what `deal` throws; `CancellationError`.
    package static func look(
        into questions: [Question], depth: FileReader.Depth, deal: @escaping @Sendable (Part) async throws -> Void
    ) async throws {
        let board = Board()
        let (news, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let count = min(questions.count, ProcessInfo.processInfo.activeProcessorCount)
        guard count > 0 else { return }
        board.start(count)
        for _ in 0..<count {
            let thread = Thread {
                work(on: questions, depth, board, signal)
                if board.leave() { signal.finish() }
            }
            thread.name = "booksync.verify"
            thread.start()
        }
        // A task of its own, which cancellation does not reach: what was read to its end is always dealt with.
        let dealing = Task {
            do {
                for await _ in news { try await deal(board.take()) }
                try await deal(board.take())
            } catch {
                board.stop()
                for await _ in news {}
                throw error
            }
        }
        try await withTaskCancellationHandler {
            try await dealing.value
        } onCancel: {
            board.stop()
        }
        try Task.checkCancellation()
    }

    private static func work(
        on questions: [Question], _ depth: FileReader.Depth, _ board: Board, _ signal: AsyncStream<Void>.Continuation
    ) {
        let looking = FileReader()
        while let fileIndex = board.next(of: questions.count) {
            let question = questions[fileIndex]
            var unreported = 0
            let look = looking.look(at: question.path, size: question.size, depth: depth) { count in
                unreported += count
                if unreported >= stride {
                    board.advance(fileIndex, by: Int64(unreported))
                    unreported = 0
                    signal.yield()
                }
                return !board.isStopped
            }
            board.answer(fileIndex, look)
            signal.yield()
        }
    }

    private final class Board: Sendable {
        private struct State {
            var next = 0
            var threads = 0
            var part = Part()
        }

        private let state = Mutex(State())
        private let stopped = Atomic(false)

        var isStopped: Bool { stopped.load(ordering: .relaxed) }

        func start(_ threads: Int) { state.withLock { $0.threads = threads } }

        /// - Returns: whether it was the last thread.
        func leave() -> Bool {
            state.withLock { state in
                state.threads -= 1
                return state.threads == 0
            }
        }

        func stop() { stopped.store(true, ordering: .relaxed) }

        func next(of count: Int) -> Int? {
            guard !isStopped else { return nil }
            return state.withLock { state in
                guard state.next < count else { return nil }
                defer { state.next += 1 }
                state.part.reading.append((state.next, 0))
                return state.next
            }
        }

        func advance(_ fileIndex: Int, by bytes: Int64) {
            state.withLock { state in
                guard let index = state.part.reading.firstIndex(where: { $0.fileIndex == fileIndex }) else { return }
                state.part.reading[index].bytes += bytes
            }
        }

        func answer(_ fileIndex: Int, _ look: FileCheck?) {
            state.withLock { state in
                state.part.reading.removeAll { $0.fileIndex == fileIndex }
                if let look { state.part.answers.append((fileIndex, look)) }
            }
        }

        func take() -> Part {
            state.withLock { state in
                defer { state.part.answers = [] }
                return state.part
            }
        }
    }
}
