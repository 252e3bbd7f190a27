import BookModel
import GRDB

/// An episode as its row says it: what is compared with the stored row, and written when it differs.
struct EpisodeRow: Sendable {
    let key: String
    /// Order in the listing.
    let position: Int
    /// The values of ``columns``.
    let content: StatementArguments
    private let rawKey: String?

    /// What the catalog says about an episode. A difference in any of them is a change.
    private static let columns = [
        "section", "name", "address", "locked", "size", "duration", "published_at", "modified_at", "media_type", "guid",
        "number", "season", "digest_algorithm", "digest", "chapters", "chapters_address",
    ]

    init(_ episode: Episode, position: Int) {
        self.content = [
            episode.section, episode.name, episode.address?.withoutSecrets, episode.isLocked, episode.size,
            episode.duration, stored(episode.publishedAt), stored(episode.modifiedAt), episode.mediaType, episode.guid,
            episode.number, episode.season, episode.digest?.algorithm.rawValue, episode.digest?.hexadecimal,
            episode.chapters, episode.chaptersAddress?.withoutSecrets,
        ]
        self.key = episode.identity.key
        self.position = position
        self.rawKey = episode.rawKey
    }

    /// How the stored row of an episode stands to this one.
    enum Comparison {
        case unknown
        case same
        /// Only the position in the listing differs, as of all the episodes after a new first one, or the catalog's own
        /// identification is not known yet.
        case moved(id: Int64)
        case different(id: Int64)
    }

    // One integer a row: a statement of one column is what the database layer reads with the least ado, and a listing
    // of 200,000 episodes asks 200,000 times. SQLite compares the values as they would be stored.
    private static let comparison = """
        SELECT (id << 2) | ((gone = 0 AND \(columns.map { "\($0) IS ?" }.joined(separator: " AND "))) << 1)
            | (position = ? AND (raw_key IS NOT NULL OR ? IS NULL))
        FROM episode WHERE book_id = ? AND key = ?
        """
    private static let insertion = """
        INSERT INTO episode (book_id, key, slug, raw_key, position, \(columns.joined(separator: ", ")))
        VALUES (?, ?, ?, ?, ?\(String(repeating: ", ?", count: columns.count))) ON CONFLICT (book_id, key) DO NOTHING
        """
    private static let change = """
        UPDATE episode SET raw_key = COALESCE(?, raw_key), position = ?, gone = 0, \(columns.map { "\($0) = ?" }.joined(separator: ", ")) WHERE id = ?
        """

    func compared(in book: Int64, _ database: Database) throws -> Comparison {
        let statement = try database.cachedStatement(sql: Self.comparison)
        let arguments = content + [position, rawKey, book, key]
        guard let answer = try Int64.fetchOne(statement, arguments: arguments) else { return .unknown }
        switch answer & 3 {
        case 3: return .same
        case 2: return .moved(id: answer >> 2)
        default: return .different(id: answer >> 2)
        }
    }

    /// - Returns: whether the book did not have the episode before.
    func insertIfUnknown(into book: Int64, _ database: Database) throws -> Bool {
        let statement = try database.cachedStatement(sql: Self.insertion)
        let slug = Slug(of: key)
        try statement.execute(
            arguments: [book, key, slug.isDigest ? slug.description : nil, rawKey, position] + content)
        return database.changesCount > 0
    }

    func update(_ id: Int64, _ database: Database) throws {
        // What its server did not have, it may have as it is listed now.
        try database.run(
            "UPDATE transfer SET next_try_at = NULL, missing_until = NULL WHERE episode_id = ? AND missing_since IS NOT NULL",
            [id])
        let statement = try database.cachedStatement(sql: Self.change)
        try statement.execute(arguments: [rawKey, position] + content + [id])
    }

    func move(_ id: Int64, _ database: Database) throws {
        try database.run(
            "UPDATE episode SET position = ?, raw_key = COALESCE(raw_key, ?) WHERE id = ?", [position, rawKey, id])
    }
}
