import BookModel
import CatalogStore
import Foundation
import SyncPlanner

extension ProgramRecords {
    /// Audiobookshelf's `absdatabase.sqlite`. Its episodes are those that have a file; its paths may be those of a container.
    init(audiobookshelfDatabase path: String) throws {
        let database = try ForeignDatabase(path: path)
        let rows = try database.rows(
            """
            SELECT p.feedURL AS feed, p.title AS book, CAST(p.autoDownloadEpisodes AS TEXT) AS followed,
                i.path AS folder, json_extract(e.extraData, '$.guid') AS guid, e.enclosureURL AS address,
                e.title AS title, strftime('%s', substr(e.publishedAt, 1, 19)) AS published,
                json_extract(e.audioFile, '$.metadata.path') AS file, e.id AS episode
            FROM podcasts p LEFT JOIN libraryItems i ON i.mediaId = p.id
                LEFT JOIN podcastEpisodes e ON e.podcastId = p.id
            ORDER BY p.createdAt, p.id, e."index"
            """)
        let feeds = Self.feeds(of: rows) { row in
            row["feed"].flatMap { $0.isEmpty ? nil : $0 }.map {
                Feed(
                    address: ResourceAddress($0), title: row["book"], isFollowed: row["followed"] == "1",
                    folder: row["folder"])
            }
        } record: { row, feed in
            guard row["episode"] != nil else { return nil }
            let isInside = row["file"].flatMap { file in feed.folder.map { file.hasPrefix($0 + "/") } } ?? false
            return FetchRecord(
                Self.marks(
                    guid: row["guid"], address: row["address"], title: row["title"], published: row["published"]),
                file: isInside ? row["file"].map { String($0.dropFirst((feed.folder?.count ?? 0) + 1)) } : nil)
        }
        self.init(feeds: feeds)
        let others =
            try database.rows(
                """
                SELECT CAST((SELECT COUNT(*) FROM books)
                    + (SELECT COUNT(*) FROM podcasts WHERE COALESCE(feedURL, '') = '') AS TEXT) AS count
                """
            ).first?["count"].flatMap(Int.init) ?? 0
        if others > 0 {
            notices.append(
                "\(Message(others, "book")) of Audiobookshelf without a feed: booksync adopt takes their folders over")
        }
    }
}
