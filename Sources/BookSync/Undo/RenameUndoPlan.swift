import BookModel
import CatalogStore
import LibraryFiles
import SyncPlanner

/// Which renames of a batch can be taken back, and in which order. Pure: what stands on disk is given.
struct RenameUndoPlan {
    /// In an order in which none overwrites anything once what is in the way has stepped aside.
    private(set) var renames: [FileOperation] = []
    private(set) var left: [UndoReport.Left] = []

    /// - Parameters:
    ///   - files: library-relative path → what stands there, for all folders that the renames concern.
    ///   - recorded: paths of all files that the store knows, there or not: each is one episode's.
    ///   - unchanged: paths of files that have the recorded bytes, whatever else is new of them.
    init(
        _ batch: [FileOperation], files: [String: FileAttributes], recorded: Set<String> = [],
        unchanged: Set<String> = []
    ) {
        var candidates: [RenameOrder.Move] = []
        for (rank, rename) in batch.enumerated() {
            if let reason = Self.change(since: rename, files: files), !unchanged.contains(rename.to) {
                left.append(.init(operation: rename, reason: reason, isForGood: true))
            } else {
                candidates.append(.init(rank: rank, from: rename.to, to: rename.file.path))
            }
        }
        let order = RenameOrder(candidates, occupied: recorded.union(files.keys))
        renames = order.moves.map { batch[$0.rank] }
        for (rank, obstacle) in order.obstacles.sorted(by: { $0.key < $1.key }) {
            let reason: Message =
                switch obstacle {
                case .occupied where files[batch[rank].file.path] == nil:
                    "\(batch[rank].file.path) is another file's place until the next run"
                case .occupied: "something else stands at \(batch[rank].file.path)"
                case .takenBy(let other):
                    "\(batch[rank].file.path) is the old name of episode \(batch[other].section) too"
                }
            left.append(.init(operation: batch[rank], reason: reason, isForGood: false))
        }
    }

    /// Why the file is no longer the one that was renamed; nil where it is.
    private static func change(since rename: FileOperation, files: [String: FileAttributes]) -> Message? {
        guard let file = rename.current else { return "it has no file any more" }
        guard file.path == rename.to else { return "it was moved since, and is at \(file.path)" }
        guard let facts = files[rename.to] else { return "its file is not at \(rename.to) any more" }
        guard facts.kind == .file else { return "\(facts.kind.noun) stands at \(rename.to)" }
        return file.isSame(as: facts) ? nil : "the file at \(rename.to) was changed since"
    }
}
