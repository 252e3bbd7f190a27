import BookModel
import Foundation
import GRDB

// The journal of operations. Each is recorded before its file is moved, and once more when it is known where the file is; whoever
// is killed in between leaves it begun, and the next run looks at both paths.

extension CatalogStore {
    /// So many batches of renames are remembered; older ones cannot be taken back.
    private static let rememberedBatches = 50

    /// Records operations before the first file is moved: on disk when the call returns. They stay until they are completed or
    /// dropped.
    /// - Parameter batch: when the command or the run began that they belong to.
    /// - Returns: them, in the order of the targets.
    /// - Throws: ``Failure`` when an episode has no file, or two are to go to one path.
    package func begin(
        _ kind: FileOperation.Kind, _ targets: [(episode: EpisodeIdentity, to: String)], batch: Date
    ) async throws -> [FileOperation] {
        guard !targets.isEmpty else { return [] }
        return try await write(unrecorded(targets.map(\.episode)), .durable) { database in
            let begun = try targets.map { episode, path in
                try database.begin(kind, episode, to: path, batch)
                return database.lastInsertedRowID
            }
            if kind == .rename { try database.forgetRenames(beyond: Self.rememberedBatches, before: batch) }
            return try database.operations("o.id IN (SELECT value FROM json_each(?))", ["\(begun)"])
        }
    }

    /// Records that the file of an episode goes to the trash as soon as another one has taken its place: on disk when the call
    /// returns. On the thread that calls, which it blocks: none of the cooperative pool.
    /// - Throws: ``Failure`` when the episode has another file.
    package func commit(replacing episode: EpisodeIdentity, at path: String, to: String, batch: Date) throws {
        let what: Message = "\(path), which is to be replaced, cannot be kept"
        try writeBlocking(
            what, deciding: { _ in .durable },
            { database in
                let sql = "SELECT path = ? FROM local_file WHERE episode_id = ?"
                guard try database.value(sql, [path, database.requiredID(of: episode)]) == true else {
                    throw Failure(
                        .temporary, what: what, why: "it is not the file that is recorded of \(episode)",
                        remedy: "move it away and run again; nothing is fetched twice")
                }
                try database.begin(.replace, episode, to: to, batch)
            })
    }

    /// Records which files are about to take their places in the library, in one transaction: on disk when the call returns. On
    /// the thread that calls, which it blocks: none of the cooperative pool.
    package func commit(publishing files: [LocalFile]) throws {
        guard !files.isEmpty else { return }
        try writeBlocking(
            unrecorded(files.map(\.episode)), deciding: { _ in .durable }, { try files.forEach($0.begin(publishing:)) })
    }

    /// The same of one file.
    package func begin(publishing file: LocalFile) async throws -> FileOperation {
        try await write(unrecorded([file.episode]), .durable) { database in
            try database.begin(publishing: file)
            return try database.operations("o.id = ?", [database.lastInsertedRowID])[0]
        }
    }

    /// Records that operations are about to be taken back: on disk when the call returns. What comes back from the trash goes to the
    /// path that its file has here, which may be another one than it had.
    /// - Returns: them, being reversed.
    package func beginReversing(_ operations: [FileOperation]) async throws -> [FileOperation] {
        try await update(operations) { database, operation in
            try database.run(
                """
                UPDATE operation SET state = 'reversing', path = iif(kind = 'rename', path, ?),
                    is_named_by_user = iif(kind = 'rename', is_named_by_user, ?)
                WHERE id = ? AND state = 'done'
                """, [operation.file.path, operation.file.isNamedByUser, operation.number])
        }
        return operations.map { operation in
            var operation = operation
            operation.state = .reversing
            return operation
        }
    }

    /// Records operations as done, or taken back: all or none, and on disk when the call returns. Files may have swapped paths
    /// with each other.
    /// - Throws: ``Failure`` when one is not under way, or a path belongs to a file that does not move.
    package func complete(_ operations: [FileOperation], at now: Date = Date()) async throws {
        guard !operations.isEmpty else { return }
        try await write(unrecorded(operations.map(\.episode)), .durable) { database in
            let renames = operations.filter { $0.kind == .rename }
            // Paths are unique after each statement, so all leave their paths before the first one takes its new place. No real
            // path begins with a dot and a slash.
            for rename in renames {
                // What gets its former number back as well is named by the naming.
                try database.run(
                    """
                    UPDATE local_file SET path = './' || episode_id, is_named_by_user = ? AND (
                        SELECT former_section IS NULL FROM episode WHERE id = episode_id)
                    WHERE episode_id = ?
                    """, [rename.state == .reversing, try database.requiredFile(of: rename.episode)])
            }
            for rename in renames {
                let id = try database.requiredID(of: rename.episode)
                try database.refusingTaken(rename.target, for: rename.episode, id) {
                    try database.run("UPDATE local_file SET path = ? WHERE episode_id = ?", [rename.target, id])
                }
            }
            for operation in operations { try database.complete(operation, at: now) }
        }
    }

    /// Records that operations were not carried out, or not taken back: each file is where it was.
    package func drop(_ operations: [FileOperation]) async throws {
        try await update(operations) { database, operation in
            try database.run("DELETE FROM operation WHERE id = ? AND state = 'begun'", [operation.number])
            try database.run(
                "UPDATE operation SET state = 'done' WHERE id = ? AND state = 'reversing'", [operation.number])
        }
    }

    /// Forgets operations: they cannot be taken back any more.
    package func forget(_ operations: [FileOperation]) async throws {
        try await update(operations) { database, operation in
            try database.run("DELETE FROM operation WHERE id = ?", [operation.number])
        }
    }

    private func update(
        _ operations: [FileOperation], _ body: @escaping @Sendable (Database, FileOperation) throws -> Void
    ) async throws {
        guard !operations.isEmpty else { return }
        try await write(unrecorded(operations.map(\.episode)), .durable) { database in
            for operation in operations { try body(database, operation) }
        }
    }

    /// The operations that are under way, or whose run was killed, in the order in which they were begun.
    /// - Parameter episode: nil for those of all.
    package func operationsUnderWay(of episode: EpisodeIdentity? = nil) async throws -> [FileOperation] {
        try await read("what becomes of files cannot be read") { database in
            // All have a path, by which the index leaves out those that are done.
            try database.operations(
                "o.state <> 'done' AND \(episode == nil ? "o.to_path > ''" : "o.episode_id = ?")",
                StatementArguments(episode.map { [try database.requiredID(of: $0)] } ?? []))
        }
    }

    /// All that one command or run did that can be taken back, by book and section.
    /// - Parameter batch: when it began; nil for the last one.
    package func doneOperations(of batch: Date? = nil) async throws -> [FileOperation] {
        try await read("what was done last cannot be read") { database in
            try database.operations(
                "o.state = 'done' AND o.batch = COALESCE(?, (SELECT batch FROM operation WHERE state = 'done' ORDER BY id DESC LIMIT 1))",
                [stored(batch)], order: "b.source, b.key, e.section, e.position, o.id")
        }
    }

    /// What is in the trash, what was removed last first; within that by book and section.
    /// - Parameter book: nil for all.
    package func trashedFiles(of book: BookIdentity? = nil) async throws -> [FileOperation] {
        try await read("the trash cannot be read") { database in
            try database.operations(
                "o.state = 'done' AND o.kind <> 'rename' \(book == nil ? "" : "AND b.source = ? AND b.key = ?")",
                book.map { [$0.source, $0.id] } ?? [],
                order: "o.batch DESC, b.source, b.key, e.section, e.position, o.id")
        }
    }
}

private func unrecorded(_ episodes: [EpisodeIdentity]) -> Message {
    "what becomes of the file of \(naming(episodes)) cannot be recorded"
}

extension Database {
    private static let fileColumns = LocalFile.columnNames.joined(separator: ", ")
    /// The time that is given, or the last run's beginning: a clock that was set back makes nothing old at once.
    private static let latest = "MAX(?, COALESCE((SELECT started_at FROM run ORDER BY id DESC LIMIT 1), 0))"
    private static let operationInsertion =
        "INSERT INTO operation (kind, batch, to_path, episode_id, \(fileColumns))"

    fileprivate func begin(
        _ kind: FileOperation.Kind, _ episode: EpisodeIdentity, to path: String, _ batch: Date
    ) throws {
        let id = try requiredFile(of: episode)
        try insertOperation(kind, of: episode, id, to: path) {
            try run(
                "\(Self.operationInsertion) SELECT ?, ?, ?, episode_id, \(Self.fileColumns) FROM local_file WHERE episode_id = ?",
                [kind.rawValue, stored(batch), path, id])
        }
    }

    fileprivate func begin(publishing file: LocalFile) throws {
        let id = try requiredID(of: file.episode)
        try insertOperation(.publish, of: file.episode, id, to: file.path) {
            let arguments: StatementArguments = [
                FileOperation.Kind.publish.rawValue, stored(file.fetchedAt), file.path, id,
            ]
            let marks = String(repeating: ", ?", count: LocalFile.columnNames.count)
            try run("\(Self.operationInsertion) VALUES (?, ?, ?, ?\(marks))", arguments + file.values)
        }
    }

    private func insertOperation(
        _ kind: FileOperation.Kind, of episode: EpisodeIdentity, _ id: Int64, to path: String,
        _ insert: () throws -> Void
    ) throws {
        // One that ended elsewhere is not the present one.
        try run(
            "DELETE FROM operation WHERE episode_id = ? AND kind = ? AND state = 'begun'",
            [id, kind.rawValue])
        try refusingTaken(path, for: episode, id, insert)
    }

    /// Looks once for each batch, as it begins.
    fileprivate func forgetRenames(beyond count: Int, before batch: Date) throws {
        let sql = """
            SELECT DISTINCT batch FROM operation WHERE state = 'done' AND kind = 'rename' AND batch < ?1
                AND NOT EXISTS (SELECT 1 FROM operation WHERE state = 'done' AND kind = 'rename' AND batch = ?1)
            ORDER BY batch DESC LIMIT 1 OFFSET ?2
            """
        let arguments: StatementArguments = [stored(batch), count - 1]
        guard let last: Int64 = try value(sql, arguments) else { return }
        try run("DELETE FROM operation WHERE state = 'done' AND kind = 'rename' AND batch <= ?", [last])
    }

    fileprivate func complete(_ operation: FileOperation, at now: Date) throws {
        let id = try requiredID(of: operation.episode)
        let isReversing = operation.state == .reversing
        if isReversing || operation.kind == .publish {
            try run("DELETE FROM operation WHERE id = ? AND state <> 'done'", [operation.number])
        } else {
            try run(
                "UPDATE operation SET state = 'done', done_at = \(Self.latest) WHERE id = ? AND state <> 'done'",
                [stored(now), operation.number])
        }
        guard changesCount > 0 else {
            throw Failure(
                .defect, what: unrecorded([operation.episode]), why: "no operation of that number is under way")
        }
        switch operation.kind {
        case .rename: break
        case .publish:
            try upsert(operation.file, of: id)
            // Of a new file, not of one that got tags, what was begun is superfluous.
            if operation.isNew { try run("DELETE FROM transfer WHERE episode_id = ?", [id]) }
        case .trash, .replace:
            if isReversing {
                try upsert(operation.restored, of: id)
                try endReplacing([id], at: now)
                try run("UPDATE episode SET removed_at = NULL, removed_by = NULL WHERE id = ?", [id])
                // What was broken off when it was removed.
                try run("DELETE FROM transfer WHERE episode_id = ? AND state = 'cancelled'", [id])
            } else if operation.kind == .trash {
                // Not the record of what was fetched anew meanwhile.
                try run(
                    "DELETE FROM local_file WHERE episode_id = ? AND path = ? AND fetched_at = ?",
                    [id, operation.file.path, stored(operation.file.fetchedAt)])
            }
        }
    }

    /// Records that the files which episodes had are in the trash: others have taken their places.
    func endReplacing(_ episodes: [Int64], at now: Date) throws {
        try run(
            """
            UPDATE operation SET state = 'done', done_at = \(Self.latest)
            WHERE episode_id IN (SELECT value FROM json_each(?))
                AND kind = 'replace' AND state = 'begun'
            """, [stored(now), "\(episodes)"])
    }

    /// Forgets what was announced of these, as it is recorded where their files are.
    func endPublishing(_ episodes: [Int64]) throws {
        try run(
            """
            DELETE FROM operation WHERE episode_id IN (SELECT value FROM json_each(?)) AND kind = 'publish' AND state = 'begun'
            """, ["\(episodes)"])
    }

    fileprivate func operations(
        _ condition: String, _ arguments: StatementArguments = [], order: String = "o.id"
    ) throws -> [FileOperation] {
        let sql = """
            SELECT o.id, o.kind, o.state, o.batch, o.done_at, o.to_path, e.section, e.name, COALESCE(b.title, ''),
                \(EpisodeIdentity.columns), \(LocalFile.columns(of: "o")), \(LocalFile.columns)
            FROM operation o JOIN episode e ON e.id = o.episode_id JOIN book b ON b.id = e.book_id
                LEFT JOIN local_file f ON f.episode_id = o.episode_id
            WHERE \(condition) ORDER BY \(order)
            """
        return try rows(sql, arguments) { columns in
            let (number, kind): (Int64, String) = (try columns.next(), try columns.next())
            let state: String = try columns.next()
            let (batch, doneAt) = (try columns.nextTime() ?? .distantPast, try columns.nextTime())
            let to = try columns.nextPath(inTrash: true)
            let (section, name): (Int, String) = (try columns.next(), try columns.next())
            let title: String = try columns.next()
            let episode = try EpisodeIdentity(&columns)
            return FileOperation(
                number: number, kind: try word(kind), state: try word(state), batch: batch, doneAt: doneAt,
                section: section, name: name, title: title,
                file: try LocalFile(&columns, of: episode), to: to,
                current: try columns.nextJoined(LocalFile.columnCount) { try LocalFile(&$0, of: episode) })
        }
    }
}
