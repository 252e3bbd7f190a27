import BookModel
import Foundation
import GRDB

// The lists of columns that the queries of the shelf share, each beside the code that reads them.

extension BookIdentity {
    init(_ columns: inout ColumnReader) throws {
        self.init(source: try columns.next(), id: try columns.next())
    }
}

extension Book {
    static let columns = """
        b.source, b.key, b.title, b.author, b.narrator, b.summary, b.language, b.cover, b.declared, b.complete,
        b.candidate_names, b.candidate_listings
        """

    /// - Parameter columns: ``columns`` come next.
    init(_ columns: inout ColumnReader) throws {
        let identity = try BookIdentity(&columns)
        self.init(
            identity: identity,
            // Until the listing has ended there may be no title.
            title: try columns.next(String?.self) ?? Book.untitled(identity), author: try columns.next(),
            narrator: try columns.next(), summary: try columns.next(), language: try columns.next(),
            cover: try columns.next(String?.self).map(ResourceAddress.init(_:)), declaredEpisodes: try columns.next(),
            isComplete: try columns.next())
        (candidateNames, candidateListings) = (try columns.next(), try columns.next())
    }
}

extension EpisodeIdentity {
    static let columns = "b.source, b.key, e.key"

    init(_ columns: inout ColumnReader) throws {
        self.init(book: try BookIdentity(&columns), key: try columns.next())
    }
}

extension Episode {
    /// Without the element, which is kept apart.
    static let columns = """
        e.key, e.section, e.name, e.address, e.size, e.duration, e.published_at, e.modified_at, e.media_type, e.guid,
        e.number, e.season, e.digest_algorithm, e.digest
        """

    init(_ columns: inout ColumnReader, of book: BookIdentity) throws {
        self.init(
            identity: EpisodeIdentity(book: book, key: try columns.next()), section: try columns.next(),
            name: try columns.next(), address: try columns.next(String?.self).map(ResourceAddress.init(_:)),
            size: try columns.nextLength(), duration: try columns.next(), publishedAt: try columns.nextTime(),
            modifiedAt: try columns.nextTime(), mediaType: try columns.next(), guid: try columns.next(),
            number: try columns.next(), season: try columns.next())
        if let algorithm: String = try columns.next() {
            digest = ContentDigest(algorithm: try word(algorithm), hexadecimal: try columns.next())
        } else {
            columns.skip(1)
        }
    }
}

extension LocalFile.Original {
    /// Nil where the three columns that come next are.
    init?(_ columns: inout ColumnReader) throws {
        guard let size: Int64 = try columns.next() else {
            columns.skip(2)
            return nil
        }
        self.init(size: size, sha256: try columns.next(), streamSHA256: try columns.next())
    }
}

extension LocalFile {
    static let columns = columns(of: "f")
    /// Of local_file, and of other tables with such rows.
    static let columnNames = [
        "path", "size", "sha256", "mtime", "inode", "etag", "last_modified", "validator_age", "catalog_size",
        "catalog_modified_at", "fetched_at", "verification", "is_named_by_user", "fetched_from", "original_size",
        "original_sha256", "stream_sha256",
    ]

    /// - Parameter table: what a query calls the table.
    static func columns(of table: String) -> String {
        columnNames.map { "\(table).\($0)" }.joined(separator: ", ")
    }

    /// The values of ``columnNames``.
    var values: StatementArguments {
        let place: StatementArguments = [path, size, sha256, modificationTime, Int64(bitPattern: inode)]
        return place + StatementArguments(validator) + [
            catalogSize, stored(catalogModifiedAt), stored(fetchedAt), verification.rawValue, isNamedByUser,
            fetchedFrom,
            original?.size, original?.sha256, original?.streamSHA256,
        ]
    }

    static let columnCount = columnNames.count

    init(_ columns: inout ColumnReader, of episode: EpisodeIdentity) throws {
        self.init(
            episode: episode, path: try columns.nextPath(), size: try columns.next(), sha256: try columns.next(),
            modificationTime: try columns.next(),
            // SQLite's integers are signed; the number is kept bit by bit.
            inode: UInt64(bitPattern: try columns.next(Int64.self)), validator: try columns.nextValidator(),
            catalogSize: try columns.nextLength(), catalogModifiedAt: try columns.nextTime(),
            fetchedAt: try columns.nextTime() ?? .distantPast,
            verification: try word(columns.next()), isNamedByUser: try columns.next(),
            fetchedFrom: try columns.next(), original: try LocalFile.Original(&columns))
    }
}

extension TransferRecord {
    static let columns = """
        t.state, t.etag, t.last_modified, t.validator_age, t.total, t.committed_length, t.boot_id, t.attempts, t.error,
        t.next_try_at, t.missing_since, t.missing_until
        """
    static let columnCount = 12

    init(_ columns: inout ColumnReader, of episode: EpisodeIdentity) throws {
        self.init(
            episode: episode, state: try word(columns.next()), validator: try columns.nextValidator(),
            total: try columns.nextLength(), committedLength: try columns.nextLength() ?? 0,
            bootID: try columns.next(), attempts: try columns.next(), error: try columns.nextJSON(),
            nextTryAt: try columns.nextTime())
        (missingSince, missingUntil) = (try columns.nextTime(), try columns.nextTime())
    }
}

extension EpisodeRecord {
    /// What ``init(_:of:)`` reads; a query may add the chapters behind it.
    static let columns = """
        \(Episode.columns), e.gone, e.removed_at, e.removed_by, \(LocalFile.columns), \(TransferRecord.columns),
        m.chapters, m.duration
        """
    static let tables = """
        episode e
        LEFT JOIN local_file f ON f.episode_id = e.id
        LEFT JOIN transfer t ON t.episode_id = e.id
        LEFT JOIN media m ON m.episode_id = e.id AND m.sha256 = f.sha256
        """
    /// The same of those with a transfer, which most have not: SQLite is to begin with these.
    static let tablesByTransfer = """
        transfer t CROSS JOIN episode e ON e.id = t.episode_id
        LEFT JOIN local_file f ON f.episode_id = e.id
        LEFT JOIN media m ON m.episode_id = e.id AND m.sha256 = f.sha256
        """

    init(_ columns: inout ColumnReader, of book: BookIdentity) throws {
        let episode = try Episode(&columns, of: book)
        let isGone: Bool = try columns.next()
        let removedAt = try columns.nextTime()
        let cause: String? = try columns.next()
        self.init(
            episode: episode, isGone: isGone, removedAt: removedAt,
            removedBy: cause.flatMap(RemovalCause.init(rawValue:)) ?? .user,
            file: try columns.nextJoined(LocalFile.columnCount) { try LocalFile(&$0, of: episode.identity) },
            transfer: try columns.nextJoined(TransferRecord.columnCount) {
                try TransferRecord(&$0, of: episode.identity)
            })
        let chapters: Int? = try columns.next()
        let duration: Double? = try columns.next()
        media = chapters.map { MediaSummary(duration: duration, chapters: $0) }
    }
}

extension Database {
    /// - Parameter sql: selects source and key of a book, and ``EpisodeRecord/columns``.
    func shelvedEpisodes(_ sql: String, _ arguments: StatementArguments) throws -> [EpisodeRecord] {
        try rows(sql, arguments) { columns in
            let book = try BookIdentity(&columns)
            return try EpisodeRecord(&columns, of: book)
        }
    }
}
