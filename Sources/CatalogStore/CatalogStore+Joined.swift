import BookModel
import GRDB

extension CatalogStore {
    /// The files that were made of the book's episodes, by path.
    package func joinedFiles(of book: BookIdentity) async throws -> [JoinedFile] {
        try await read("what was joined of \(book) cannot be read") { database in
            let rows = try Row.fetchCursor(
                database,
                sql: "SELECT path, size, mtime, made_of FROM joined_file WHERE book_id = ? ORDER BY path",
                arguments: [database.id(of: book)])
            return try rows.decode { columns in
                JoinedFile(
                    path: try columns.next(), book: book, size: try columns.next(),
                    modificationTime: try columns.next(),
                    madeOf: try columns.next())
            }
        }
    }

    /// Records all files that are made of the book's episodes, in place of those recorded before: on disk when the call returns.
    package func recordJoinedFiles(_ files: [JoinedFile], of book: BookIdentity) async throws {
        try await write("what was joined of \(book) cannot be recorded", .durable) { database in
            guard let id = try database.id(of: book) else { return }
            try database.execute(sql: "DELETE FROM joined_file WHERE book_id = ?", arguments: [id])
            for file in files {
                try database.execute(
                    sql: """
                        INSERT OR REPLACE INTO joined_file (path, book_id, size, mtime, made_of) VALUES (?, ?, ?, ?, ?)
                        """,
                    arguments: [file.path, id, file.size, file.modificationTime, file.madeOf])
            }
        }
    }
}
