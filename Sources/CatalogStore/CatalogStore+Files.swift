import BookModel
import GRDB

extension CatalogStore {
    /// Forgets the file of an episode, if it has one; the episode is missing from then on.
    package func forgetFile(of episode: EpisodeIdentity) async throws {
        try await write("the file of \(episode) cannot be forgotten", .relaxed) { database in
            try database.run("DELETE FROM local_file WHERE episode_id = ?", [database.id(of: episode)])
        }
    }

    /// The paths of all recorded files.
    package func filePaths() async throws -> Set<String> {
        try await read("the files of the library cannot be looked up") { database in
            try String.fetchSet(database, sql: "SELECT path FROM local_file UNION SELECT path FROM joined_file")
        }
    }

    /// The paths that are recorded in the folders for files of other books than this one, and for files that were joined.
    package func pathsOfOthers(than book: BookIdentity, in folders: Set<String>) async throws -> Set<String> {
        try await read("the files beside those of \(book) cannot be looked up") { database in
            let id = try database.id(of: book) ?? 0
            var paths: Set<String> = []
            for folder in folders {
                // A range of paths, which have an index, where the folder alone would have every file looked at.
                let range = folder.isEmpty ? "" : "AND f.path > ? AND f.path < ?"
                let sql = """
                    SELECT f.path FROM local_file f JOIN episode e ON e.id = f.episode_id
                    WHERE f.folder = ? AND e.book_id <> ? \(range)
                    UNION ALL SELECT f.path FROM joined_file f WHERE TRUE \(range)
                    """
                let bounds: StatementArguments = folder.isEmpty ? [] : [folder + "/", folder + "0"]
                let found: [String] = try database.rows(sql, [folder, id] + bounds + bounds) { try $0.next() }
                paths.formUnion(found)
            }
            return paths
        }
    }

    /// Records anew what is recorded of files that the store knows, their paths included; their transfers
    /// stay. Files may have swapped paths with each other.
    /// - Throws: ``Failure`` when an episode has no file, or a path belongs to another episode.
    package func updateFiles(_ files: [LocalFile]) async throws {
        guard !files.isEmpty else { return }
        try await write("the file of \(naming(files.map(\.episode))) cannot be noted", .relaxed) { database in
            let ids = try files.map { try database.requiredFile(of: $0.episode) }
            // Paths are unique after each statement: who moves leaves before the first one arrives.
            for (file, id) in zip(files, ids) {
                try database.run(
                    "UPDATE local_file SET path = './' || episode_id WHERE episode_id = ? AND path <> ?",
                    [id, file.path])
            }
            for (file, id) in zip(files, ids) {
                try database.upsert(file, of: id)
                try database.run(
                    "UPDATE local_file SET is_named_by_user = ? WHERE episode_id = ?", [file.isNamedByUser, id])
            }
        }
    }

    /// The keys of a book's episodes whose files were replaced as often as ``CatalogChangeRule/maxReplacements`` says.
    package func oftenReplaced(in book: BookIdentity) async throws -> Set<String> {
        let sql = """
            SELECT e.key FROM replacement r CROSS JOIN episode e ON e.id = r.episode_id
                CROSS JOIN book b ON b.id = e.book_id
            WHERE b.source = ? AND b.key = ? GROUP BY e.id HAVING COUNT(*) >= ?
            """
        return try await Set(
            rows(
                "the replaced files of \(book) cannot be looked up", sql,
                [book.source, book.id, CatalogChangeRule.maxReplacements]
            ) { try $0.next() })
    }

    /// Records anew what a file is, by whoever does not have the library's lock.
    /// - Returns: whether it was: not so where `former` is no longer what is recorded of it.
    package func replaceRecord(of former: LocalFile, with file: LocalFile) async throws -> Bool {
        try await write("the file of \(file.episode) cannot be noted", .relaxed) { database in
            let sql = "SELECT 1 FROM local_file WHERE episode_id = ? AND path = ? AND sha256 = ?"
            guard let id = try database.id(of: former.episode),
                try database.value(sql, [id, former.path, former.sha256]) == 1
            else { return false }
            try database.upsert(file, of: id)
            return true
        }
    }
}

extension Database {
    /// Records the file of an episode in place of the one before. A new version at a path that the user chose leaves the path
    /// the user's.
    func upsert(_ file: LocalFile, of id: Int64) throws {
        try refusingTaken(file.path, for: file.episode, id) { try run(Self.fileUpsert, [id] + file.values) }
    }

    private static let fileUpsert = """
        INSERT INTO local_file (episode_id, \(LocalFile.columnNames.joined(separator: ", ")))
        VALUES (?\(String(repeating: ", ?", count: LocalFile.columnNames.count)))
        ON CONFLICT (episode_id) DO UPDATE SET
            is_named_by_user = CASE WHEN path = excluded.path THEN is_named_by_user ELSE excluded.is_named_by_user END,
            \(LocalFile.columnNames.filter { $0 != "is_named_by_user" }.map { "\($0) = excluded.\($0)" }
                .joined(separator: ", "))
        """

    /// The row of an episode that has a file.
    func requiredFile(of episode: EpisodeIdentity) throws -> Int64 {
        let id = try requiredID(of: episode)
        guard try value("SELECT 1 FROM local_file WHERE episode_id = ?", [id]) == 1 else {
            throw Failure(
                .defect, what: "the file of \(episode) cannot be noted", why: "the store knows no file of the episode")
        }
        return id
    }

    /// Says whose a path is, when the schema refuses it for being another episode's.
    func refusingTaken(_ path: String, for episode: EpisodeIdentity, _ id: Int64, _ body: () throws -> Void)
        throws
    {
        do {
            try body()
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE {
            let sql = """
                SELECT b.source || ':' || b.key || '#' || e.key
                FROM (
                    SELECT episode_id FROM local_file WHERE path = ?2 AND episode_id <> ?1
                    UNION ALL SELECT episode_id FROM operation WHERE to_path = ?2 AND state <> 'done' AND episode_id <> ?1
                ) f JOIN episode e ON e.id = f.episode_id JOIN book b ON b.id = e.book_id
                """
            let known: String? = try value(sql, [id, path])
            let owner = known.map(Message.init(verbatim:)) ?? "another episode"
            throw Failure(
                .inputOutput, what: "\(episode) cannot have the file '\(path)'",
                why: "it is recorded as the file of \(owner)",
                remedy: "make 'naming' in the configuration tell the two apart")
        }
    }
}
