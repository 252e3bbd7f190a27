import LibraryFiles
import Synchronization
import Transport

/// Where transfers run: each on an event loop, which reads its connection, so that a part that arrives is hashed and
/// written where it is. What may block for long is done on two threads beside, where the loop does not wait for it.
final class TransferThreads: Sendable {
    private let loops = LoopExecutor.all
    private let transfersOnLoop: Mutex<[Int]>
    private let diskThreads = [
        SerialQueueExecutor(label: "booksync.disk.1"), SerialQueueExecutor(label: "booksync.disk.2"),
    ]
    private let engineThread = SerialQueueExecutor(label: "booksync.engine")
    private let slowWrites = Atomic(0)

    init() {
        transfersOnLoop = Mutex(Array(repeating: 0, count: loops.count))
    }

    /// Where what ends transfers, and begins others, runs.
    var engineLoop: LoopExecutor { loops[0] }

    /// Does for the engine what may block for long.
    func aside<Value>(_ work: () throws -> Value) async rethrows -> Value {
        try await withTaskExecutorPreference(engineThread) { try work() }
    }

    /// A transfer's place on the loop that has the fewest.
    final class Slot: Sendable {
        private let threads: TransferThreads
        private let index: Int
        private let diskThread: SerialQueueExecutor

        fileprivate init(_ threads: TransferThreads, _ index: Int) {
            self.threads = threads
            self.index = index
            diskThread = threads.diskThreads[index % threads.diskThreads.count]
        }

        deinit {
            threads.transfersOnLoop.withLock { $0[index] -= 1 }
        }

        var loop: LoopExecutor { threads.loops[index] }

        /// Does what may block for long: syncs, commits, reading a whole file.
        func aside<Value>(_ work: () throws -> Value) async rethrows -> Value {
            try await withTaskExecutorPreference(diskThread) { try work() }
        }

        /// Writes on the loop, or beside it while the disk is slow.
        func write(_ work: () throws -> Void) async throws {
            guard threads.isDiskSlow else { return try threads.timed(work) }
            try await aside { try threads.timed(work) }
        }
    }

    func takeSlot() -> Slot {
        let index = transfersOnLoop.withLock { counts in
            let index = counts.indices.min { counts[$0] < counts[$1] } ?? 0
            counts[index] += 1
            return index
        }
        return Slot(self, index)
    }

    private static let slowWrite = Duration.milliseconds(4)

    /// Whether more than one of nine writes took long of late: one alone may have waited for a processor.
    private var isDiskSlow: Bool { slowWrites.load(ordering: .relaxed) > 16 }

    private func timed(_ work: () throws -> Void) throws {
        let start = ContinuousClock.now
        try work()
        let isSlow = ContinuousClock.now - start > Self.slowWrite
        let weight = slowWrites.load(ordering: .relaxed)
        // Where two loops count at once one may be lost, which is no harm.
        guard isSlow || weight > 0 else { return }
        slowWrites.store(isSlow ? min(64, weight + 8) : weight - 1, ordering: .relaxed)
    }
}
