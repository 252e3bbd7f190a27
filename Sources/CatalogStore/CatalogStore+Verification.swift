import BookModel
import Foundation
import GRDB

/// A round of reading files against their records.
package struct VerificationRound: Sendable, Hashable {
    /// Rises with every round of the store.
    package var number: Int64
    package var startedAt: Date
}

extension CatalogStore {
    /// Begins a round, or goes on with the one of the same scope that was cut off.
    /// - Parameters:
    ///   - scope: what is to be verified; "" is everything. Two that are the same text are the same scope.
    ///   - anew: whether a round that was cut off is given up.
    package func beginVerification(of scope: String, anew: Bool, at now: Date) async throws -> VerificationRound {
        try await write("the verification cannot be begun", .relaxed) { database in
            if anew {
                try database.run(
                    "UPDATE verification SET ended_at = ? WHERE scope = ? AND ended_at IS NULL", [stored(now), scope])
            } else {
                let begun = "SELECT id, started_at FROM verification WHERE scope = ? AND ended_at IS NULL"
                let round = try database.first(begun, [scope]) { columns in
                    VerificationRound(number: try columns.next(), startedAt: try columns.nextTime() ?? .distantPast)
                }
                if let round { return round }
            }
            try database.run("INSERT INTO verification (scope, started_at) VALUES (?, ?)", [scope, stored(now)])
            return VerificationRound(number: database.lastInsertedRowID, startedAt: now)
        }
    }

    /// The episodes whose files were found right in the round or since, and whose records have not changed after that.
    package func verifiedFiles(since round: VerificationRound) async throws -> Set<EpisodeIdentity> {
        let sql = """
            SELECT \(EpisodeIdentity.columns)
            FROM verified_file v JOIN local_file f ON f.episode_id = v.episode_id AND f.sha256 = v.sha256
                JOIN episode e ON e.id = v.episode_id JOIN book b ON b.id = e.book_id
            WHERE v.round >= ?
            """
        return Set(
            try await rows("what is verified already cannot be looked up", sql, [round.number], EpisodeIdentity.init))
    }

    /// Records files that were read whole and found right. One whose record has changed meanwhile is passed over. A power
    /// cut may take the last notes back, which costs reading these files again.
    package func recordVerified(_ files: [LocalFile], in round: VerificationRound, at now: Date) async throws {
        guard !files.isEmpty else { return }
        let what: Message = "the verification of \(naming(files.map(\.episode))) cannot be noted"
        try await write(what, .relaxed) { database in
            let sql = """
                INSERT INTO verified_file (episode_id, round, verified_at, sha256)
                SELECT f.episode_id, ?, ?, f.sha256 FROM local_file f WHERE f.episode_id = ? AND f.sha256 = ?
                ON CONFLICT (episode_id) DO UPDATE SET
                    round = MAX(round, excluded.round), verified_at = excluded.verified_at, sha256 = excluded.sha256
                """
            for file in files {
                try database.run(sql, [round.number, stored(now), database.id(of: file.episode), file.sha256])
            }
        }
    }

    /// Ends a round: the next one of its scope begins anew.
    package func endVerification(_ round: VerificationRound, at now: Date) async throws {
        try await run(
            "the end of the verification cannot be noted", .relaxed,
            "UPDATE verification SET ended_at = ? WHERE id = ?", [stored(now), round.number])
    }

    /// When the file that is recorded for an episode was last read whole and found right; nil when it never was.
    package func lastVerified(_ episode: EpisodeIdentity) async throws -> Date? {
        try await read("the last verification of \(episode) cannot be looked up") { database in
            let sql = """
                SELECT v.verified_at FROM verified_file v JOIN local_file f ON f.episode_id = v.episode_id
                WHERE v.episode_id = ? AND f.sha256 = v.sha256
                """
            return time(stored: try database.value(sql, [database.id(of: episode)]))
        }
    }
}
