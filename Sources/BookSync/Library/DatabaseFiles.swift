import BookModel
import CatalogStore
import Foundation
import LibraryFiles

/// A database and the logs beside it, which are its own by their names alone. All of it blocks on the disk.
struct DatabaseFiles: Sendable {
    static let logs = ["-wal", "-shm", "-journal"]

    let path: String

    init(_ path: String) { self.path = path }

    /// Whether there is a database, and not an empty file.
    var isThere: Bool { fileSize(path) ?? 0 > 0 }

    /// The epoch of the last run that had the database; nil where there is none.
    var generation: Int? { get throws { isThere ? try StoreHeader(reading: path).generation : nil } }

    /// Renames the logs first: one that is left beside another database would be taken for its own.
    /// - Parameter what: fails, where it does; nil for the file's name.
    func move(_ suffixes: [String] = logs + [""], to other: String, failing what: Message? = nil) throws {
        for suffix in suffixes where fileSize(path + suffix) != nil {
            try systemCall(what ?? "\(path)\(suffix) cannot be moved") { rename(path + suffix, other + suffix) }
        }
    }

    func delete() throws {
        for suffix in [""] + Self.logs { try deleteFile(path + suffix) }
    }

    /// Makes it a copy of a database that nothing writes to.
    func become(copyOf source: String) throws {
        try delete()
        try copyFile(source, to: path, size: fileSize(source) ?? 0)
        try systemCall("\(path) cannot be written") { chmod(path, 0o600) }
    }
}
