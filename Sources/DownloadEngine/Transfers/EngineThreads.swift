import LibraryFiles
import Transport

/// Where a run's work is done. A transfer runs on an event loop of its own kind, which reads its connection and serves nobody
/// else, so that a part that arrives is hashed and written where it is, and what it waits for keeps only other transfers waiting.
struct EngineThreads: Sendable {
    let loops = LoopExecutor.all
    /// For what a run looks at from time to time.
    let engine = SerialQueueExecutor(label: "booksync.engine")
    let publisher = SerialQueueExecutor(label: "booksync.publisher")
    private let disks = (0..<2).map { SerialQueueExecutor(label: "booksync.disk.\($0)") }

    /// Where a transfer does what may block for long: syncs, commits, reading a whole file.
    func disk(of index: Int) -> SerialQueueExecutor { disks[index % disks.count] }
}
