import BookModel
import Foundation
import GRDB

// Where users stopped. A position goes with its episode, whatever becomes of its name and its file.

extension CatalogStore {
    /// Records where a user stopped in an episode, in place of what was recorded before. It comes every few seconds: a
    /// power cut may take the last of them back.
    /// - Parameter known: the ``ListeningPosition/revision`` that the player knew, 0 for none: a position that another
    ///   device recorded since then stays. nil replaces whatever is there.
    /// - Returns: what is in effect, and whether it is this one. Its revision is greater than that of the one before.
    /// - Throws: ``Failure`` of kind `defect` when the store does not know the episode, or there is no such position.
    @discardableResult
    package func setPosition(
        _ position: ListeningPosition, of user: User.ID = User.owner.id, after known: Int64? = nil
    ) async throws -> (isRecorded: Bool, position: ListeningPosition) {
        let what: Message = "the position in \(position.episode) cannot be recorded"
        let isSensible = [position.seconds, position.duration ?? 1].allSatisfy {
            (0...ListeningPosition.maximum) ~= $0
        }
        guard isSensible, position.duration != 0 else {
            throw Failure(.defect, what: what, why: "no episode has a position \(position.seconds) s")
        }
        return try await write(what, .relaxed) { database in
            let id = try database.requiredID(of: position.episode)
            let before = try database.positions(of: user, "AND p.episode_id = ?", [id]).first
            if let known, let before, before.revision > known { return (false, before) }
            var recorded = position
            recorded.duration = position.duration ?? before?.duration
            // Clocks are set back, and two devices may meet in a millisecond.
            let revision = max(position.revision, (before?.revision ?? 0).addingSaturated(1))
            recorded.updatedAt = Date(clamping: Double(revision) / 1000)
            try database.insert(
                into: "listening_position",
                [
                    ("user_id", user), ("episode_id", id), ("seconds", recorded.seconds),
                    ("duration", recorded.duration), ("finished", recorded.isFinished), ("updated_at", revision),
                    ("device", recorded.device),
                ], key: ["user_id", "episode_id"])
            return (true, recorded)
        }
    }

    /// The keys of a book's episodes that some user heard to their end, and that none is in the middle of.
    package func heardEpisodes(of book: BookIdentity) async throws -> Set<String> {
        let sql = """
            SELECT e.key FROM listening_position p
            JOIN episode e ON e.id = p.episode_id JOIN book b ON b.id = e.book_id
            WHERE b.source = ? AND b.key = ? GROUP BY e.id HAVING MIN(p.finished) = 1
            """
        return try await Set(
            rows("what was heard of \(book) cannot be read", sql, [book.source, book.id]) { try $0.next() })
    }

    /// Where a user stopped in one episode; nil where they never listened to it.
    package func position(
        in episode: EpisodeIdentity, of user: User.ID = User.owner.id
    ) async throws -> ListeningPosition? {
        try await positions(
            "the position in \(episode) cannot be read", of: user, "AND b.source = ? AND b.key = ? AND e.key = ?",
            [episode.book.source, episode.book.id, episode.key]
        ).first
    }

    /// Where a user stopped in the episodes of a book; those never listened to are left out.
    package func positions(
        of book: BookIdentity, for user: User.ID = User.owner.id
    ) async throws -> [EpisodeIdentity: ListeningPosition] {
        let found = try await positions(
            "the positions in \(book) cannot be read", of: user, "AND b.source = ? AND b.key = ?",
            [book.source, book.id])
        return Dictionary(found.map { ($0.episode, $0) }) { first, _ in first }
    }

    /// The last position of each book that a user listened to, the book that was listened to last first, without those that
    /// they dismissed since.
    /// - Parameter limit: so many books at most.
    package func latestPositions(limit: Int, of user: User.ID = User.owner.id) async throws -> [ListeningPosition] {
        // Of several at the same millisecond one.
        let condition = """
            AND p.episode_id = (
                SELECT l.episode_id FROM listening_position l JOIN episode o ON o.id = l.episode_id
                WHERE l.user_id = p.user_id AND o.book_id = e.book_id
                ORDER BY l.updated_at DESC, l.episode_id DESC LIMIT 1)
            AND NOT EXISTS (
                SELECT 1 FROM book_listening d
                WHERE d.user_id = p.user_id AND d.book_id = e.book_id AND d.dismissed_at >= p.updated_at)
            ORDER BY p.updated_at DESC, p.episode_id DESC LIMIT ?
            """
        return try await positions("what was listened to last cannot be read", of: user, condition, [limit])
    }

    private func positions(
        _ what: Message, of user: User.ID, _ condition: String, _ arguments: StatementArguments
    ) async throws -> [ListeningPosition] {
        try await read(what) { try $0.positions(of: user, condition, arguments) }
    }

    // MARK: Marks

    /// Marks episodes of a book as played to their end, or takes away that they were ever listened to.
    /// - Returns: how many are marked otherwise than before.
    /// - Throws: ``Failure`` of kind `defect` when the store does not know the book or the episode.
    package func mark(
        _ part: MarkedPart, of book: BookIdentity, asPlayed isPlayed: Bool, for user: User.ID, at now: Date
    ) async throws -> Int {
        try await write("the episodes of \(book) cannot be marked", .durable) { database in
            let bookID = try database.requiredID(of: book)
            var condition = "e.book_id = ?"
            var arguments: StatementArguments = [bookID]
            switch part {
            case .whole: break
            case .episode(let episode):
                condition += " AND e.id = ?"
                arguments += [try database.requiredID(of: episode)]
            case .upTo(let episode):
                condition += " AND (e.section, e.position) <= (SELECT section, position FROM episode WHERE id = ?)"
                arguments += [try database.requiredID(of: episode)]
            }
            if isPlayed {
                // An episode that ended long ago stays where it is among what was listened to last.
                let sql = """
                    INSERT INTO listening_position (user_id, episode_id, seconds, duration, finished, updated_at)
                    SELECT ?, e.id, 0, NULL, 1, ? FROM episode e WHERE \(condition)
                    ON CONFLICT (user_id, episode_id) DO UPDATE SET
                        seconds = 0, finished = 1, updated_at = MAX(excluded.updated_at, updated_at + 1)
                    WHERE NOT finished
                    """
                try database.run(sql, [user, stored(now)] + arguments)
            } else {
                try database.run(
                    """
                    DELETE FROM listening_position WHERE user_id = ?
                        AND episode_id IN (SELECT e.id FROM episode e WHERE \(condition))
                    """, [user] + arguments)
            }
            return database.changesCount
        }
    }

    // MARK: Books

    /// How far a user is in books; those that they never listened to are left out.
    package func listeningProgress(
        of books: [BookIdentity], for user: User.ID
    ) async throws -> [BookIdentity: ListeningProgress] {
        try await read("how far books were listened to cannot be read") { database in
            let sql = """
                SELECT COUNT(*), COALESCE(SUM(p.finished), 0), SUM(COALESCE(p.duration, e.duration)),
                    COUNT(COALESCE(p.duration, e.duration)),
                    COALESCE(SUM(CASE WHEN p.finished THEN COALESCE(p.duration, e.duration)
                        ELSE MIN(p.seconds, COALESCE(p.duration, e.duration, p.seconds)) END), 0)
                FROM episode e LEFT JOIN listening_position p ON p.episode_id = e.id AND p.user_id = ?
                WHERE e.book_id = ? AND (NOT e.gone OR EXISTS (SELECT 1 FROM local_file f WHERE f.episode_id = e.id))
                """
            let listened = """
                SELECT EXISTS (
                    SELECT 1 FROM episode e JOIN listening_position p ON p.episode_id = e.id AND p.user_id = ?
                    WHERE e.book_id = ?)
                """
            let any = "SELECT EXISTS (SELECT 1 FROM listening_position WHERE user_id = ?)"
            guard try database.value(any, [user]) == true else { return [:] }
            var progress: [BookIdentity: ListeningProgress] = [:]
            for book in books {
                guard let id = try database.id(of: book), try database.value(listened, [user, id]) == true else {
                    continue
                }
                progress[book] = try database.first(sql, [user, id]) { columns in
                    try ListeningProgress(
                        episodes: columns.next(), played: columns.next(),
                        knownSeconds: columns.next(Double?.self) ?? 0, withKnownLength: columns.next(),
                        secondsHeard: columns.next())
                }
            }
            return progress
        }
    }

    /// How fast a user listens to a book; nil where they never said.
    package func speed(of book: BookIdentity, for user: User.ID) async throws -> Double? {
        let sql = """
            SELECT l.speed FROM book_listening l JOIN book b ON b.id = l.book_id
            WHERE b.source = ? AND b.key = ? AND l.user_id = ? AND l.speed IS NOT NULL
            """
        return try await value("the speed of \(book) cannot be read", sql, [book.source, book.id, user])
    }

    /// - Parameter speed: 0.25 to 4.
    package func setSpeed(_ speed: Double, of book: BookIdentity, for user: User.ID) async throws {
        try await setListening("speed", to: speed.databaseValue, of: book, for: user)
    }

    /// Offers a book no more to be gone on with, until something of it is listened to again.
    package func dismiss(_ book: BookIdentity, for user: User.ID, at now: Date) async throws {
        try await setListening("dismissed_at", to: stored(now)?.databaseValue ?? .null, of: book, for: user)
    }

    private func setListening(
        _ column: String, to value: DatabaseValue, of book: BookIdentity, for user: User.ID
    ) async throws {
        try await write("how \(book) is listened to cannot be recorded", .relaxed) { database in
            let id = try database.requiredID(of: book)
            try database.insert(
                into: "book_listening", [("user_id", user), ("book_id", id), (column, value)],
                key: ["user_id", "book_id"])
        }
    }
}

extension Database {
    /// - Parameter condition: begins with AND, or orders.
    fileprivate func positions(
        of user: User.ID, _ condition: String, _ arguments: StatementArguments
    ) throws -> [ListeningPosition] {
        let sql = """
            SELECT \(EpisodeIdentity.columns), p.seconds, p.duration, p.finished, p.updated_at, p.device
            FROM listening_position p JOIN episode e ON e.id = p.episode_id JOIN book b ON b.id = e.book_id
            WHERE p.user_id = ? \(condition)
            """
        return try rows(sql, [user] + arguments) { columns in
            ListeningPosition(
                episode: try EpisodeIdentity(&columns), seconds: try columns.nextSeconds(),
                duration: try columns.next(), isFinished: try columns.next(),
                updatedAt: try columns.nextTime() ?? .distantPast, device: try columns.next())
        }
    }
}
