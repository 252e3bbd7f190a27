import BookModel
import Foundation
import GRDB

extension CatalogStore {
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
                try database.run("UPDATE episode \(change.rawValue) WHERE book_id = ?", [id])
                guard change == .restore else { continue }
                // What came since and has one of these numbers goes behind all others.
                let sql = """
                    UPDATE episode SET section = section + (
                        SELECT MAX(section) FROM episode WHERE book_id = ?1 AND section < 1000000000)
                    WHERE book_id = ?1 AND former_section IS NULL
                        AND section IN (SELECT former_section FROM episode WHERE book_id = ?1)
                    """
                try database.run(sql, [id])
                if database.changesCount > 0 { try database.touch(id, at: Date()) }
            }
        }
    }
}
