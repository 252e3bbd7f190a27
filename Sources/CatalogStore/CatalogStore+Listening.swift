import BookModel
import Foundation
import GRDB

// Where the listener stopped. A position goes with its episode, whatever becomes of its name and its file.

extension CatalogStore {
    /// Notes where the listener stopped in an episode, in place of what was noted before. It comes every few seconds:
    /// a power cut may take the last of them back.
    /// - Parameter known: the ``ListeningPosition/revision`` that the player knew, 0 for none: a position that another
    ///   device noted since then stays. nil replaces whatever is there.
    /// - Returns: what stands, and whether it is this one. Its revision is greater than that of the one before.
    /// - Throws: ``Failure`` of kind `defect` when the store does not know the episode, or there is no such position.
    @discardableResult
    package func setPosition(
        _ position: ListeningPosition, after known: Int64? = nil
    ) async throws -> (isNoted: Bool, standing: ListeningPosition) {
        let what = "the position in \(position.episode) cannot be noted"
        let isSensible = [position.seconds, position.duration ?? 1].allSatisfy {
            (0...ListeningPosition.greatest) ~= $0
        }
        guard isSensible, position.duration != 0 else {
            throw Failure(.defect, what: what, why: "no episode has a position \(position.seconds) s")
        }
        return try await write(what, .relaxed) { database in
            let id = try database.requiredID(of: position.episode)
            let before = try database.positions("WHERE p.episode_id = ?", [id]).first
            if let known, let before, before.revision > known { return (false, before) }
            var noted = position
            noted.duration = position.duration ?? before?.duration
            // Clocks are set back, and two devices may meet in a millisecond.
            let revision = max(position.revision, (before?.revision ?? 0) + 1)
            noted.updatedAt = Date(timeIntervalSince1970: Double(revision) / 1000)
            let sql = """
                INSERT OR REPLACE INTO listening_position (episode_id, seconds, duration, finished, updated_at)
                VALUES (?, ?, ?, ?, ?)
                """
            try database.cachedStatement(sql: sql).execute(
                arguments: [id, noted.seconds, noted.duration, noted.isFinished, revision])
            return (true, noted)
        }
    }

    /// Where the listener stopped in one episode; nil where it was never listened to.
    package func position(in episode: EpisodeIdentity) async throws -> ListeningPosition? {
        try await positions(
            "the position in \(episode) cannot be read", "WHERE b.source = ? AND b.key = ? AND e.key = ?",
            [episode.book.source, episode.book.id, episode.key]
        ).first
    }

    /// Where the listener stopped in the episodes of a book; those never listened to are left out.
    package func positions(of book: BookIdentity) async throws -> [EpisodeIdentity: ListeningPosition] {
        let found = try await positions(
            "the positions in \(book) cannot be read", "WHERE b.source = ? AND b.key = ?", [book.source, book.id])
        return Dictionary(found.map { ($0.episode, $0) }) { first, _ in first }
    }

    /// The last position of each book that was listened to, the book that was listened to last first.
    /// - Parameter limit: so many books at most.
    package func latestPositions(limit: Int) async throws -> [ListeningPosition] {
        // Of several at the same millisecond one.
        let condition = """
            WHERE p.episode_id = (
                SELECT l.episode_id FROM listening_position l JOIN episode o ON o.id = l.episode_id
                WHERE o.book_id = e.book_id ORDER BY l.updated_at DESC, l.episode_id DESC LIMIT 1)
            ORDER BY p.updated_at DESC, p.episode_id DESC LIMIT ?
            """
        return try await positions("what was listened to last cannot be read", condition, [limit])
    }

    private func positions(
        _ what: String, _ condition: String, _ arguments: StatementArguments
    ) async throws -> [ListeningPosition] {
        try await read(what) { try $0.positions(condition, arguments) }
    }
}

extension Database {
    fileprivate func positions(_ condition: String, _ arguments: StatementArguments) throws -> [ListeningPosition] {
        let sql = """
            SELECT \(EpisodeIdentity.columns), p.seconds, p.duration, p.finished, p.updated_at
            FROM listening_position p JOIN episode e ON e.id = p.episode_id JOIN book b ON b.id = e.book_id
            \(condition)
            """
        let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
        var positions: [ListeningPosition] = []
        while let row = try rows.next() {
            var columns = ColumnReader(row)
            positions.append(
                ListeningPosition(
                    episode: try EpisodeIdentity(&columns), seconds: try columns.next(),
                    duration: try columns.next(), isFinished: try columns.next(),
                    updatedAt: try columns.nextTime() ?? .distantPast))
        }
        return positions
    }
}
