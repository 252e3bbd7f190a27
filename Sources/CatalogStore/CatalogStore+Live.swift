import BookModel
import Foundation
import GRDB

/// By which it is known whether another connection changed the database since it was looked at: equal values mean that
/// none did.
package struct StoreVersion: Sendable, Hashable {
    fileprivate var connection: ObjectIdentifier
    fileprivate var version: Int64
}

/// What moves in the store at one moment: by the rows of episodes, for their names are looked up where they are wanted.
package struct ActivitySnapshot: Sendable {
    package struct Transfer: Sendable, Hashable {
        package var state: TransferState
        package var total: Int64?
        package var attempts = 0

        package init(state: TransferState, total: Int64? = nil, attempts: Int = 0) {
            (self.state, self.total, self.attempts) = (state, total, attempts)
        }

        package var isUnderWay: Bool { state == .downloading }
    }

    package struct Run: Sendable, Hashable {
        package var number: Int64
        package var command: String
        package var isEnded: Bool
        /// What was recorded since it began, and not later than now: files, and their bytes.
        package var done = 0
        package var bytes: Int64 = 0
    }

    /// Those that do not wait.
    package var transfers: [Int64: Transfer] = [:]
    /// How many wait.
    package var waiting = 0
    /// The rows of episodes whose file was recorded since.
    package var recorded: [Int64] = []
    /// When the file that was recorded last was, in milliseconds since 1970; now where a clock that was ahead says later.
    package var lastFile: Int64?
    package var run: Run?
    /// Differs after a file or an episode was added, a request made, or a file trashed, renamed or restored.
    package var counts: [Int64] = []
}

extension CatalogStore {
    package func version() async throws -> StoreVersion {
        try await read("the store cannot be looked at") { database in
            StoreVersion(
                connection: ObjectIdentifier(database),
                version: try database.value("PRAGMA data_version") ?? 0)
        }
    }

    /// Another one after every change of tables and indexes (SQLite, `PRAGMA schema_version`).
    package func schemaVersion() async throws -> Int64 {
        try await value("the store cannot be looked at", "PRAGMA schema_version") ?? 0
    }

    /// Whether it is a copy that shows the moment of opening: on media that cannot be written.
    package var isCopy: Bool { !isWritable && reader is DatabaseQueue }

    /// The transfers under way, and counts. Waiting transfers are only counted.
    /// - Parameter time: lists the files recorded after it, in milliseconds since 1970; nil for none.
    package func activitySnapshot(recordedAfter time: Int64?) async throws -> ActivitySnapshot {
        try await read("the store cannot be looked at") { database in
            var look = ActivitySnapshot()
            let begun = "SELECT episode_id, state, total, attempts FROM transfer WHERE state <> 'waiting'"
            let transfers = try database.rows(begun) { columns in
                let id: Int64 = try columns.next()
                let transfer = ActivitySnapshot.Transfer(
                    state: try word(columns.next()), total: try columns.nextLength(), attempts: try columns.next())
                return (id, transfer)
            }
            look.transfers = Dictionary(uniqueKeysWithValues: transfers)
            let numbers = """
                SELECT (SELECT COUNT(*) FROM transfer), (SELECT MAX(fetched_at) FROM local_file),
                    (SELECT MAX(id) FROM episode), (SELECT COUNT(*) FROM operation), (SELECT MAX(id) FROM operation),
                    (SELECT COUNT(*) FROM request), (SELECT MAX(id) FROM request)
                """
            guard let row = try Row.fetchOne(database.cachedStatement(sql: numbers)) else { return look }
            let counts = try (0..<row.count).map { try row.decode(Int64?.self, atIndex: $0) }
            look.waiting = Int(clamping: counts[0] ?? 0) - look.transfers.count
            // The transaction began before: no file in it is later, unless a clock was ahead.
            let now = stored(Date.now) ?? .max
            look.lastFile = counts[1].map { min($0, now) }
            look.counts = counts.dropFirst().map { $0 ?? 0 }
            if let time {
                look.recorded = try database.rows(
                    "SELECT episode_id FROM local_file WHERE fetched_at > ? AND fetched_at <= ?", [time, now]
                ) { try $0.next() }
            }
            let run = """
                SELECT r.id, r.command, r.ended_at IS NOT NULL, COUNT(f.size), CAST(TOTAL(f.size) AS INTEGER)
                FROM run r LEFT JOIN local_file f ON f.fetched_at >= r.started_at
                    AND f.fetched_at <= COALESCE(r.ended_at, ?)
                WHERE r.id = (SELECT MAX(id) FROM run)
                """
            // The counts of no run are a row as well.
            look.run =
                try database.first(run, [now]) { columns in
                    guard let number: Int64 = try columns.next() else { return nil }
                    return ActivitySnapshot.Run(
                        number: number, command: try columns.next(), isEnded: try columns.next(),
                        done: try columns.next(), bytes: try columns.next())
                } ?? nil
            return look
        }
    }

    /// What is known of episodes by their rows; those that are there no longer are left out.
    package func episodes(inRows rows: [Int64]) async throws -> [Int64: EpisodeRecord] {
        guard !rows.isEmpty else { return [:] }
        return try await read("the episodes that move cannot be read") { database in
            let sql = """
                SELECT b.source, b.key, \(EpisodeRecord.columns)
                FROM \(EpisodeRecord.tables) JOIN book b ON b.id = e.book_id WHERE e.id = ?
                """
            var episodes: [Int64: EpisodeRecord] = [:]
            for id in rows { episodes[id] = try database.shelvedEpisodes(sql, [id]).first }
            return episodes
        }
    }
}
