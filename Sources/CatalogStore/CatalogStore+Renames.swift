import BookModel
import Foundation
import GRDB

/// What renames belong to.
package enum RenameBatch: Sendable, Hashable {
    /// The first ones of a run.
    case new
    /// More of a run that has renamed already.
    case number(Int64)
    /// None: they take renames back. Once completed, those are no longer known, and the files keep their names as if
    /// the user had given them, so that the naming does not move them forward again at once. Where the numbers were
    /// restored as well (``CatalogStore/NumberChange/restore``), the naming itself gives the former names.
    case undo
}

extension CatalogStore {
    /// So many batches are remembered; older ones cannot be taken back.
    private static let rememberedBatches = 50

    /// Records that files are about to be renamed, before the first of them is: on disk when the call returns. An
    /// intention stays until it is completed or abandoned.
    /// - Returns: the number of the batch that they are recorded in; nil for none.
    /// - Throws: ``Failure`` when an episode has no file, or two mean to go to one path.
    @discardableResult
    package func intendRenames(
        _ renames: [(episode: EpisodeIdentity, to: String)], batch: RenameBatch = .new
    ) async throws -> Int64? {
        guard !renames.isEmpty else { return nil }
        let what: Message = "the renaming of \(naming(renames.map(\.episode))) cannot be recorded"
        return try await write(what, .durable) { database in
            let number = try database.number(of: batch)
            for (episode, path) in renames {
                let id = try database.requiredFile(of: episode)
                try database.refusingTaken(path, for: episode, id) {
                    try database.run("UPDATE local_file SET pending_path = ? WHERE episode_id = ?", [path, id])
                }
                // What a rename that ended elsewhere left behind is not the present one.
                try database.run(
                    "DELETE FROM renaming WHERE episode_id = ? AND renamed_at IS NULL AND batch IS NOT ?", [id, number])
                guard let number else { continue }
                let sql = """
                    INSERT INTO renaming (batch, episode_id, from_path, to_path)
                    SELECT ?, episode_id, path, ? FROM local_file WHERE episode_id = ?
                    ON CONFLICT (batch, episode_id) DO UPDATE SET to_path = excluded.to_path, renamed_at = NULL
                    """
                try database.run(sql, [number, path, id])
            }
            try database.run(
                "DELETE FROM renaming WHERE batch <= ? AND renamed_at IS NOT NULL",
                [(number ?? 0).subtractingSaturated(Int64(Self.rememberedBatches))])
            return number
        }
    }

    /// Records that intended renames were carried out: all or none, and on disk when the call returns. Files may have
    /// swapped paths with each other. With it the batch knows them as done or, where they took renames back, forgets
    /// those.
    /// - Throws: ``Failure`` when an episode has no intention, or a path belongs to a file that does not move.
    package func completeRenames(_ episodes: [EpisodeIdentity], at now: Date = Date()) async throws {
        guard !episodes.isEmpty else { return }
        let what: Message = "the renaming of \(naming(episodes)) cannot be recorded as done"
        try await write(what, .durable) { database in
            let moves = try episodes.map { try database.intendedMove(of: $0, failing: what) }
            // Paths are unique after each statement, so all leave their paths before the first one takes its new
            // place. No real path begins with a dot and a slash.
            for move in moves {
                let isUndo = try !database.recordRenamed(move.id, at: now)
                if isUndo { try database.forgetRename(of: move.id, from: move.to, to: move.from) }
                try database.run(
                    """
                    UPDATE local_file SET path = './' || episode_id, pending_path = NULL, is_named_by_user = ? AND (
                        SELECT former_section IS NULL FROM episode WHERE id = episode_id)
                    WHERE episode_id = ?
                    """, [isUndo, move.id])
            }
            for move in moves {
                try database.refusingTaken(move.to, for: move.episode, move.id) {
                    try database.run("UPDATE local_file SET path = ? WHERE episode_id = ?", [move.to, move.id])
                }
            }
        }
    }

    /// Takes intentions back: the files are where they were.
    package func abandonRenames(_ episodes: [EpisodeIdentity]) async throws {
        guard !episodes.isEmpty else { return }
        try await write("the renaming of \(naming(episodes)) cannot be taken back", .durable) { database in
            for episode in episodes {
                let id = try database.id(of: episode)
                try database.run("UPDATE local_file SET pending_path = NULL WHERE episode_id = ?", [id])
                try database.run("DELETE FROM renaming WHERE episode_id = ? AND renamed_at IS NULL", [id])
            }
        }
    }

    /// The renames that were intended and neither completed nor abandoned: a run ended in between.
    package func intendedRenames() async throws -> [(file: LocalFile, pendingPath: String)] {
        try await read("the intended renames cannot be looked up") { database in
            let sql = """
                SELECT \(EpisodeIdentity.columns), f.pending_path, \(LocalFile.columns)
                FROM local_file f JOIN episode e ON e.id = f.episode_id JOIN book b ON b.id = e.book_id
                WHERE f.pending_path > '' ORDER BY +f.episode_id
                """
            let rows = try Row.fetchCursor(database.cachedStatement(sql: sql))
            return try rows.decode { columns in
                let episode = try EpisodeIdentity(&columns)
                let pending = try columns.nextPath()
                return (file: try LocalFile(&columns, of: episode), pendingPath: pending)
            }
        }
    }

    /// The last batch of renames that can be taken back, by book and section; nil when there is none.
    package func lastRenames() async throws -> (renamedAt: Date, renames: [PastRename])? {
        try await read("the last renames cannot be looked up") { database in
            let sql = """
                SELECT r.renamed_at, r.from_path, r.to_path, e.section, e.name,
                    \(EpisodeIdentity.columns), \(LocalFile.columns)
                FROM renaming r JOIN episode e ON e.id = r.episode_id JOIN book b ON b.id = e.book_id
                    LEFT JOIN local_file f ON f.episode_id = r.episode_id
                WHERE r.renamed_at IS NOT NULL
                    AND r.batch = (SELECT MAX(batch) FROM renaming WHERE renamed_at IS NOT NULL)
                ORDER BY b.source, b.key, e.section, e.position
                """
            let rows = try Row.fetchCursor(database.cachedStatement(sql: sql))
            var last: Date?
            var renames: [PastRename] = []
            while let row = try rows.next() {
                var columns = ColumnReader(row)
                let time = try columns.nextTime()
                last = [last, time].compactMap(\.self).max()
                let (from, to) = (try columns.nextPath(), try columns.nextPath())
                let (section, name): (Int, String) = (try columns.next(), try columns.next())
                let episode = try EpisodeIdentity(&columns)
                renames.append(
                    PastRename(
                        episode: episode, section: section, name: name, from: from, to: to,
                        file: try .joined(&columns, of: episode)))
            }
            return last.map { ($0, renames) }
        }
    }

    /// What becomes of the numbers that undo restores with the names.
    package enum NumberChange: String, Sendable {
        /// The present ones are recorded: the book is about to be renumbered.
        case record = "SET former_section = section"
        /// The recorded ones count again.
        case restore = "SET section = COALESCE(former_section, section)"
        case forget = "SET former_section = NULL"
    }

    /// Records, restores or forgets the former numbers of all episodes of books.
    package func setNumbers(of books: Set<BookIdentity>, _ change: NumberChange) async throws {
        try await write("the numbers of episodes cannot be recorded", .durable) { database in
            for book in books {
                guard let id = try database.id(of: book) else { continue }
                try database.execute(
                    sql: "UPDATE episode \(change.rawValue) WHERE book_id = ?", arguments: [id])
                guard change == .restore else { continue }
                // What came since and has one of these numbers goes behind all others.
                let sql = """
                    UPDATE episode SET section = section + (
                        SELECT MAX(section) FROM episode WHERE book_id = ?1 AND section < 1000000000)
                    WHERE book_id = ?1 AND former_section IS NULL
                        AND section IN (SELECT former_section FROM episode WHERE book_id = ?1)
                    """
                try database.execute(sql: sql, arguments: [id])
                if database.changesCount > 0 { try database.touch(id, at: Date()) }
            }
        }
    }

    /// Forgets renames of the last batch that cannot be taken back any more.
    package func forgetRenames(_ renames: [PastRename]) async throws {
        guard !renames.isEmpty else { return }
        try await write("the last renames cannot be forgotten", .durable) { database in
            for rename in renames {
                guard let id = try database.id(of: rename.episode) else { continue }
                try database.forgetRename(of: id, from: rename.from, to: rename.to)
            }
        }
    }
}

extension Database {
    fileprivate func number(of batch: RenameBatch) throws -> Int64? {
        switch batch {
        case .undo: nil
        case .number(let number): number
        case .new: (try Int64.fetchOne(self, sql: "SELECT MAX(batch) FROM renaming") ?? 0).addingSaturated(1)
        }
    }

    fileprivate func intendedMove(
        of episode: EpisodeIdentity, failing what: Message
    ) throws -> (id: Int64, episode: EpisodeIdentity, from: String, to: String) {
        let id = try requiredFile(of: episode)
        let statement = try cachedStatement(sql: "SELECT path, pending_path FROM local_file WHERE episode_id = ?")
        let rows = try Row.fetchCursor(statement, arguments: [id])
        if let row = try rows.next() {
            var columns = ColumnReader(row)
            let from = try columns.nextPath()
            if let to = try columns.nextPathIfAny() { return (id, episode, from, to) }
        }
        throw Failure(.defect, what: what, why: "no renaming of \(episode) was intended")
    }

    /// - Returns: whether a run had intended it; not so when it takes a rename back.
    fileprivate func recordRenamed(_ episode: Int64, at now: Date) throws -> Bool {
        try run(
            "UPDATE renaming SET renamed_at = ? WHERE episode_id = ? AND renamed_at IS NULL", [stored(now), episode])
        return changesCount > 0
    }

    fileprivate func forgetRename(of episode: Int64, from: String, to: String) throws {
        let sql = """
            DELETE FROM renaming WHERE episode_id = ?1 AND batch = (
                SELECT MAX(batch) FROM renaming WHERE episode_id = ?1 AND from_path = ?2 AND to_path = ?3)
            """
        try run(sql, [episode, from, to])
    }
}
