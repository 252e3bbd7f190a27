import BookModel
import Foundation
import Synchronization

/// Looks into many files at once, as many as there are cores.
///
/// They are taken one after the other in the order given; what is found is handed on in parts, each as large as it became while
/// the part before was being dealt with.
package enum ParallelFileReader {
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
        // A task of its own, which cancellation does not reach: what was read to its end is always dealt with.
        let dealing = Task {
            defer { board.stop() }
            for await _ in news { try await deal(board.take()) }
            try await deal(board.take())
        }
        try await withTaskCancellationHandler {
            // On threads of their own: whatever else blocks would wait for large files.
            _ = try await (0..<count).concurrentMap(atOnce: count) { _ in
                await withCheckedContinuation { isDone in
                    Thread.detachNewThread {
                        let reader = FileReader()
                        while let fileIndex = board.begin(of: questions.count) {
                            board.answer(
                                fileIndex, look(questions[fileIndex], depth, at: fileIndex, by: reader, board, signal))
                            signal.yield()
                        }
                        isDone.resume()
                    }
                }
            }
            signal.finish()
            try await dealing.value
        } onCancel: {
            board.stop()
        }
        try Task.checkCancellation()
    }

    /// Blocks.
    private static func look(
        _ question: Question, _ depth: FileReader.Depth, at fileIndex: Int, by reader: borrowing FileReader,
        _ board: Board, _ signal: AsyncStream<Void>.Continuation
    ) -> FileCheck? {
        var unreported = 0
        return reader.look(at: question.path, size: question.size, depth: depth) { count in
            unreported += count
            if unreported >= stride {
                board.advance(fileIndex, by: Int64(unreported))
                unreported = 0
                signal.yield()
            }
            return !board.isStopped
        }
    }

    private final class Board: Sendable {
        private let part = Mutex(Part())
        private let begun = Atomic(0)
        private let stopped = Atomic(false)

        var isStopped: Bool { stopped.load(ordering: .relaxed) }

        func stop() { stopped.store(true, ordering: .relaxed) }

        /// - Returns: the next file to be read; nil when all were begun, or the rest are not to be.
        func begin(of count: Int) -> Int? {
            let fileIndex = begun.add(1, ordering: .relaxed).oldValue
            guard !isStopped, fileIndex < count else { return nil }
            part.withLock { $0.reading.append((fileIndex, 0)) }
            return fileIndex
        }

        func advance(_ fileIndex: Int, by bytes: Int64) {
            part.withLock { part in
                guard let index = part.reading.firstIndex(where: { $0.fileIndex == fileIndex }) else { return }
                part.reading[index].bytes += bytes
            }
        }

        func answer(_ fileIndex: Int, _ look: FileCheck?) {
            part.withLock { part in
                part.reading.removeAll { $0.fileIndex == fileIndex }
                if let look { part.answers.append((fileIndex, look)) }
            }
        }

        func take() -> Part {
            part.withLock { part in
                defer { part.answers = [] }
                return part
            }
        }
    }
}
