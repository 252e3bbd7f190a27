import BookModel
import GRDB

extension CatalogStore {
    /// The files that were made of the book's episodes, by path.
    package func joinedFiles(of book: BookIdentity) async throws -> [JoinedFile] {
        try await read("what was joined of \(book) cannot be read") { database in
            let sql = "SELECT path, size, mtime, made_of FROM joined_file WHERE book_id = ? ORDER BY path"
            return try database.rows(sql, [database.id(of: book)]) { columns in
                JoinedFile(
                    path: try columns.next(), book: book, size: try columns.next(),
                    modificationTime: try columns.next(), madeOf: try columns.next())
            }
        }
    }

    /// Records all files that are made of the book's episodes, in place of those recorded before: on disk when the call returns.
    package func recordJoinedFiles(_ files: [JoinedFile], of book: BookIdentity) async throws {
        try await write("what was joined of \(book) cannot be recorded", .durable) { database in
            guard let id = try database.id(of: book) else { return }
            try database.run("DELETE FROM joined_file WHERE book_id = ?", [id])
            for file in files {
                try database.run(
                    "INSERT OR REPLACE INTO joined_file (path, book_id, size, mtime, made_of) VALUES (?, ?, ?, ?, ?)",
                    [file.path, id, file.size, file.modificationTime, file.madeOf])
            }
        }
    }
}
