import BookModel
import CatalogStore
import Foundation
import SyncPlanner

extension ProgramRecords {
    /// gPodder's `Database` (SQLite), the downloads beside it. Of an episode's states 1 is downloaded and 2 deleted.
    init(gPodderDatabase path: String, environment: [String: String]) throws {
        let rows = try ForeignDatabase(path: path).rows(
            """
            SELECT p.url AS feed, p.title AS book, p.download_folder AS folder,
                CAST(p.pause_subscription AS TEXT) AS paused, e.guid AS guid, e.url AS address, e.title AS title,
                CAST(e.published AS TEXT) AS published, e.download_filename AS file
            FROM podcast p LEFT JOIN episode e ON e.podcast_id = p.id AND e.state IN (1, 2) ORDER BY p.id, e.id
            """)
        let downloads =
            environment["GPODDER_DOWNLOAD_DIR"]
            ?? URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false) + "Downloads"
        let feeds = Self.feeds(of: rows) { row in
            row["feed"].map {
                Feed(
                    address: ResourceAddress($0), title: row["book"], isFollowed: row["paused"] != "1",
                    folder: row["folder"].map { downloads + "/" + $0 })
            }
        } record: { row, _ in
            row["address"].map { address in
                FetchRecord(
                    Self.marks(
                        guid: row["guid"], address: address, title: row["title"], published: row["published"]),
                    file: row["file"])
            }
        }
        self.init(feeds: feeds)
    }
}
