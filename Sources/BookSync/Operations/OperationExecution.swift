import AudioFiles
import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles

/// Carries out operations on files of the library: they are recorded, the files are moved, never over another one, each folder is
/// synced once, and it is recorded where they are. A run that is killed in between is settled by ``recover()`` of the next one.
///
/// Whoever calls this holds the library's lock.
struct OperationExecution: Sendable {
    /// Absolute.
    let library: String
    let store: CatalogStore

    struct Outcome: Sendable {
        var done: [FileOperation] = []
        /// What stays where it was.
        var failures: [(operation: FileOperation, failure: Failure)] = []
    }

    /// - Parameters:
    ///   - targets: in an order in which, but for names that go round in a circle, none meets another; relative to the library.
    ///   - batch: when the command or the run began.
    func perform(
        _ kind: FileOperation.Kind, _ targets: [(episode: EpisodeIdentity, to: String)], batch: Date
    ) async throws -> Outcome {
        try await carryOut(try await store.begin(kind, targets, batch: batch))
    }

    /// Takes operations back. What comes back from the trash takes the place of the file that its episode has by now, and that
    /// goes to the trash.
    func reverse(_ operations: [FileOperation]) async throws -> Outcome {
        try await carryOut(try await store.beginReversing(operations))
    }

    private func carryOut(_ operations: [FileOperation]) async throws -> Outcome {
        guard !operations.isEmpty else { return Outcome() }
        var (failed, aside) = try await runBlocking { move(operations) }
        var done = operations.filter { failed[$0.number] == nil }
        let left = operations.filter { failed[$0.number] != nil && !aside.contains($0.number) }
        let stranded = operations.filter { aside.contains($0.number) }
        do {
            try await runBlocking { [library] in try Self.sync(operations, in: library) }
        } catch {
            // They stay under way: the next run finds out where they are.
            return Outcome(failures: operations.map { ($0, failed[$0.number] ?? Failure.of(error)) })
        }
        failed.merge(try await end(done, dropping: left, stranded)) { $1 }
        done.removeAll { failed[$0.number] != nil }
        return Outcome(
            done: done,
            failures: operations.compactMap { operation in failed[operation.number].map { (operation, $0) } })
    }

    /// Records where the files are.
    /// - Parameter stranded: those that could neither go on nor back, and are recorded aside.
    /// - Returns: why some could not be recorded, by their numbers; they were taken back.
    @discardableResult
    private func end(
        _ done: [FileOperation], dropping left: [FileOperation], _ stranded: [FileOperation]
    ) async throws -> [Int64: Failure] {
        try await store.updateFiles(
            stranded.map { operation in
                var file = operation.moving
                file.path = RenameSteps.aside(file.episode, from: operation.source)
                return file
            })
        let refused = try await complete(done)
        try await store.drop(left + stranded)
        let folders = Set(done.map { splitLibraryPath($0.source).folder })
        try await runBlocking { [library] in Self.removeIfEmpty(folders, in: library) }
        return refused
    }

    /// All at once, or one by one where a path is recorded as another episode's: those are taken back.
    private func complete(_ done: [FileOperation]) async throws -> [Int64: Failure] {
        do {
            try await store.complete(done)
            return [:]
        } catch let failure as Failure where failure.disposition == .skip {
            var refused: [Int64: Failure] = [:]
            for operation in done {
                do { try await store.complete([operation]) } catch let failure as Failure
                    where failure.disposition == .skip
                { refused[operation.number] = failure }
            }
            let back = done.filter { refused[$0.number] != nil }
            try await runBlocking { [library] in
                // The last one first: each finds its place free. A file that stays all the same is recognised where it is.
                for operation in back.reversed() {
                    _ = Self.movesBack(operation.target, to: operation.source, in: library)
                }
                try Self.sync(back, in: library)
            }
            try await store.drop(back)
            return refused
        }
    }

    // MARK: - The disk

    /// Blocks.
    /// - Returns: by the operations' numbers, why some failed, and which of their files could not go back.
    private func move(_ operations: [FileOperation]) -> (failed: [Int64: Failure], aside: Set<Int64>) {
        let now = Date()
        let byEpisode = Dictionary(operations.map { ($0.episode, $0) }) { first, _ in first }
        let steps = RenameSteps.steps(
            for: operations.map { .init(episode: $0.episode, from: $0.source, to: $0.target) })
        var failed: [Int64: Failure] = [:]
        var places: [Int64: String] = [:]
        for step in steps {
            guard let operation = byEpisode[step.episode], failed[operation.number] == nil else { continue }
            do {
                if operation.kind != .rename, operation.state == .reversing, operation.current != nil {
                    try exchange(operation, at: now)
                } else {
                    try Self.move(step.from, to: step.to, in: library)
                }
                places[operation.number] = step.to
            } catch {
                failed[operation.number] = Failure.of(error)
            }
        }
        var aside: Set<Int64> = []
        for operation in operations where failed[operation.number] != nil {
            guard let place = places[operation.number] else { continue }
            if !Self.movesBack(place, to: operation.source, in: library) { aside.insert(operation.number) }
        }
        return (failed, aside)
    }

    /// One move. Never overwrites. Blocks.
    static func move(_ from: String, to path: String, in library: String) throws {
        let (old, new) = (splitLibraryPath(from), splitLibraryPath(path))
        let source = try LibraryDirectory(old.folder, in: library, creating: false)
        try LibraryDirectory(new.folder, in: library).receive(old.name, from: source, as: new.name)
    }

    /// - Returns: whether the file is where it was; where another one has taken its place meanwhile, it stays. Blocks.
    private static func movesBack(_ from: String, to path: String, in library: String) -> Bool {
        guard case .success = Result(catching: { try move(from, to: path, in: library) }) else { return false }
        return true
    }

    private func exchange(_ operation: FileOperation, at now: Date) throws {
        try keep(operation.episode, at: operation.target, batch: now)
        let (folder, name) = splitLibraryPath(operation.target)
        try LibraryDirectory(folder, in: library).receive(
            library + "/" + operation.source, as: name, replaces: true)
    }

    /// Gives the file of an episode, which is about to be replaced, a second name in the trash; on disk when the call returns.
    /// Blocks.
    ///
    /// It is recorded first: what a kill leaves of this is settled by the next run.
    /// - Throws: ``Failure`` when it cannot be kept, as for lack of room: it must not be replaced then.
    func keep(_ episode: EpisodeIdentity, at path: String, batch: Date) throws {
        let original = library + "/" + path
        guard let facts = try lookedUp(original) else { return }
        var time = batch
        if let kept = try lookedUp(library + "/" + Trash.path(of: path, removedAt: time)) {
            if kept == facts { return }
            // The run that put that one there replaces the file again.
            time = Date()
        }
        let to = Trash.path(of: path, removedAt: time)
        try store.commit(replacing: episode, at: path, to: to, batch: time)
        let (folder, name) = splitLibraryPath(to)
        let target = try LibraryDirectory(folder, in: library)
        let second = "\(library)/\(folder)/\(name)"
        if link(original, second) != 0 {
            // On a filesystem where a file has one name only.
            let copy = second + Self.copySuffix
            defer { unlink(copy) }
            try copyFile(original, to: copy, size: facts.size)
            try systemCall("\(original) cannot be kept") { rename(copy, second) }
        }
        try target.sync()
    }

    private static let copySuffix = ".new"

    /// Before it is recorded where the files are, the names of their folders are on disk: first where they are, then where they
    /// were. Blocks.
    private static func sync(_ operations: [FileOperation], in library: String) throws {
        var folders: Set<Substring> = []
        for path in operations.map(\.target) + operations.map(\.source) {
            let folder = splitLibraryPath(path).folder
            guard folders.insert(folder).inserted, fileAttributes(library + "/" + folder) != nil else { continue }
            try LibraryDirectory(folder, in: library, creating: false).sync()
        }
    }

    /// What cannot be removed does no harm. Blocks.
    static func removeIfEmpty(_ folders: Set<Substring>, in library: String) {
        for folder in folders.sorted() { _ = Result { try removeEmptyFolders(folder, in: library) } }
    }

    // MARK: - After a kill

    /// Finds out how far a killed run came with its operations, and records it. Files that were left under their
    /// temporary names are moved on, and with them those that wait for their names; else the rest is for the next plan.
    func recover() async throws {
        let open = try await store.operationsUnderWay()
        for operation in open where operation.kind == .publish { try await settlePublished(operation) }
        for operation in open where operation.kind == .replace && operation.state == .begun {
            try await settleReplaced(operation)
        }
        try await settleMoved(open.filter { $0.kind == .rename || $0.kind == .trash || $0.state == .reversing })
    }

    /// What a run left that was killed while it put a file into its place. What cannot be read now is looked at by the next run.
    private func settlePublished(_ operation: FileOperation) async throws {
        let file = operation.file
        do {
            var found = try await look(at: file.path, for: file)
            if found == nil, operation.isDownload { found = try await finishDownload(of: file) }
            try await FileTagging.settle(operation, as: found, store: store)
            guard found != nil, operation.isNew else { return }
            // Where the file was copied from another filesystem, it may be there still.
            try await PartialFile.drop([file.episode], of: library)
        } catch let failure as Failure where failure.disposition == .skip {
            // Its path is another episode's, or leads out of the library: what stands there is recognised like any file.
            try await store.drop([operation])
        } catch is SystemError {}
    }

    /// - Returns: what stands there, where that is the announced file.
    /// - Throws: `SystemError` where it cannot be read.
    private func look(at path: String, for file: LocalFile) async throws -> ExaminedFile? {
        try await runBlocking { [library] in
            try placedFile(at: path, withDigest: file.sha256, size: file.size, in: library)
        }
    }

    /// Puts a download into its place that lies whole where it was fetched to. Where that is not possible, since something else stands
    /// there or the disk is full, it is left to the next plan.
    private func finishDownload(of file: LocalFile) async throws -> ExaminedFile? {
        let known = try await store.episode(file.episode)?.transfer
        guard known?.state != .cancelled else { return nil }
        let partial = "\(LibraryFolder.partialPath)/\(PartialFile.name(for: file.episode))"
        let isWhole = try await look(at: partial, for: file) != nil
        if isWhole {
            let placed = await Result.of {
                try await runBlocking { [library] in
                    try LibraryDirectory.put(library + "/" + partial, at: file.path, in: library, replaces: false)
                }
            }
            if case .success = placed { return try await look(at: file.path, for: file) }
        }
        guard var transfer = known ?? (isWhole ? TransferRecord(episode: file.episode) : nil) else { return nil }
        // Where it is neither here nor in its place, no byte that lies here is known to be of it.
        (transfer.validator, transfer.bootID) = (file.validator, nil)
        transfer.committedLength = isWhole ? file.size : 0
        if file.verification != .unverified { transfer.total = file.size }
        try await store.save([transfer])
        return nil
    }

    /// What a run left that was killed, or failed, while it replaced a file.
    private func settleReplaced(_ operation: FileOperation) async throws {
        let (place, second) = (library + "/" + operation.file.path, library + "/" + operation.to)
        let isReplaced = try await runBlocking {
            if let kept = try lookedUp(second) {
                // The second name, or the copy, of a file that is in its place still.
                let isSuperfluous = try lookedUp(place).map { inPlace in
                    inPlace.inode == kept.inode
                        || operation.file.isSame(as: inPlace) && operation.file.hasContent(at: place)
                }
                guard isSuperfluous == true else { return true }
            }
            for path in [second, second + Self.copySuffix] where unlink(path) != 0 {
                guard errno == ENOENT || errno == ENOTDIR else {
                    throw Failure.file("\(path) cannot be deleted", errno: errno)
                }
            }
            return false
        }
        if isReplaced { return try await store.complete([operation]) }
        try await store.drop([operation])
        try await runBlocking { Self.removeIfEmpty([splitLibraryPath(operation.to).folder], in: library) }
    }

    private func settleMoved(_ operations: [FileOperation]) async throws {
        guard !operations.isEmpty else { return }
        let folders = Set(operations.flatMap { [$0.source, $0.target] }.map { String(splitLibraryPath($0).folder) })
        let files = try await FolderScan.scan(folders: folders, under: library)
        var moved: [FileOperation] = []
        var open: [(operation: FileOperation, aside: String?)] = []
        for operation in operations {
            let (file, source, target) = (operation.moving, files[operation.source], files[operation.target])
            let aside = RenameSteps.aside(operation.episode, from: operation.source)
            if let target, target.inode == file.inode && target.size == file.size, source?.inode != target.inode {
                moved.append(operation)
            } else if let target, source?.inode == target.inode, hasOwnPaths(operation, among: operations) {
                // A power cut may leave both names of a file.
                try await runBlocking {
                    let (folder, name) = splitLibraryPath(operation.source)
                    try LibraryDirectory(folder, in: library, creating: false).delete(name)
                }
                moved.append(operation)
            } else if files[aside]?.kind == .file {
                open.append((operation, aside))
            } else if let target, source == nil, target.kind == .file, target.size == file.size,
                try await runBlocking({
                    file.hasTime(of: target) || file.hasContent(at: library + "/" + operation.target)
                })
            {
                // A shelf that was copied to another disk has other inodes, and the same times.
                moved.append(operation)
            } else {
                open.append((operation, nil))
            }
        }
        if open.contains(where: { $0.aside != nil }) {
            var existing = Set(files.keys)
            while let index = open.firstIndex(where: {
                canMove($0.operation, $0.aside, files: files, existing: existing)
            }) {
                let (operation, aside) = open.remove(at: index)
                let from = aside ?? operation.source
                try await runBlocking { try Self.move(from, to: operation.target, in: library) }
                existing.remove(from)
                existing.insert(operation.target)
                moved.append(operation)
            }
        }
        var (left, stranded) = (open.filter { $0.aside == nil }.map(\.operation), [FileOperation]())
        for case (let operation, let aside?) in open {
            // Another file has the path that it was to have.
            let isBack = try await runBlocking { Self.movesBack(aside, to: operation.source, in: library) }
            if isBack { left.append(operation) } else { stranded.append(operation) }
        }
        try await runBlocking { try Self.sync(operations, in: library) }
        try await end(moved, dropping: left, stranded)
    }

    /// Whether the two paths are of no other file, and are two, on a disk that ignores case as well.
    private func hasOwnPaths(_ operation: FileOperation, among operations: [FileOperation]) -> Bool {
        let paths = [operation.source, operation.target]
        let folders = paths.map { library + "/" + splitLibraryPath($0).folder }
        return (folders[0] == folders[1] || fileAttributes(folders[0])?.inode != fileAttributes(folders[1])?.inode)
            && operations.allSatisfy { other in
                other.number == operation.number || !paths.contains(other.source) && !paths.contains(other.target)
            }
    }

    /// Whether the file is where it is thought to be, and nothing stands where it is to go.
    private func canMove(
        _ operation: FileOperation, _ aside: String?, files: [String: FileAttributes], existing: Set<String>
    ) -> Bool {
        guard !existing.contains(operation.target) else { return false }
        if aside != nil { return true }
        guard existing.contains(operation.source), let facts = files[operation.source] else { return false }
        return facts.inode == operation.moving.inode && facts.size == operation.moving.size
    }
}

/// Blocks on the disk.
/// - Returns: nil where there is nothing.
func lookedUp(_ path: String) throws -> FileAttributes? {
    var status = stat()
    if lstat(path, &status) == 0 { return FileAttributes(status) }
    guard errno == ENOENT || errno == ENOTDIR else {
        throw Failure.file("\(path) cannot be looked at", errno: errno)
    }
    return nil
}
