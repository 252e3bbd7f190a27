import BookModel
import GRDB

extension CatalogStore {
    /// What was written at a path of the library, for whichever book; nil when nothing was.
    package func exportedFile(at path: String) async throws -> ExportedFile? {
        try await read("what was exported to \(path) cannot be looked up") { database in
            try database.exportedFiles("x.path = ?", [path]).first
        }
    }

    /// All that was written of a kind for a book.
    package func exportedFiles(of book: BookIdentity, kind: String) async throws -> [ExportedFile] {
        try await read("what was exported of \(book) cannot be looked up") { database in
            try database.exportedFiles("b.source = ? AND b.key = ? AND x.kind = ?", [book.source, book.id, kind])
        }
    }

    /// Records that a file is about to be written: on disk when the call returns.
    package func recordExport(_ file: ExportedFile) async throws {
        try await write("the export to \(file.path) cannot be recorded", .durable) { database in
            guard let id = try database.id(of: file.book) else {
                throw Failure(
                    .defect, what: "the export to \(file.path) cannot be recorded",
                    why: "the store does not know \(file.book)")
            }
            try database.insert(
                into: "exported_file",
                [
                    ("path", file.path), ("book_id", id), ("kind", file.kind), ("sha256", file.sha256),
                    ("previous", file.previous), ("origin", file.origin),
                ], key: ["path"])
        }
    }

    /// Forgets a file that is there no longer, or is the user's now.
    package func forgetExport(at path: String) async throws {
        try await run(
            "the export to \(path) cannot be forgotten", .relaxed, "DELETE FROM exported_file WHERE path = ?", [path])
    }
}

extension Database {
    fileprivate func exportedFiles(_ condition: String, _ arguments: StatementArguments) throws -> [ExportedFile] {
        let sql = """
            SELECT x.path, b.source, b.key, x.kind, x.sha256, x.previous, x.origin
            FROM exported_file x JOIN book b ON b.id = x.book_id WHERE \(condition) ORDER BY x.path
            """
        return try rows(sql, arguments) { columns in
            ExportedFile(
                path: try columns.nextPath(), book: try BookIdentity(&columns), kind: try columns.next(),
                sha256: try columns.next(), previous: try columns.next(), origin: try columns.next())
        }
    }
}
