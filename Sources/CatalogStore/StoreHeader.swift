import BookModel
import Foundation
import GRDB
import GRDBSQLite

/// The first bytes of a database's file (SQLite's file format, §1.3).
///
/// They are read through SQLite: a process that opens a file by itself and closes it again loses all locks that it has on
/// it (POSIX advisory locks), those of every connection that is open meanwhile included.
package struct StoreHeader: Sendable {
    private static let length = 100
    private let bytes: [UInt8]
    /// A transaction that a power cut broke off: who opens the database for writing undoes it, and the bytes may be torn till then.
    private let hasJournal: Bool

    /// - Throws: ``Failure`` of kind `inputOutput` when the file cannot be opened or read.
    package init(of path: String) async throws {
        self = try await runBlocking { try Self(reading: path) }
    }

    /// What keeps the file from being a database of ours; nil when nothing does. SQLite takes some of it for a database of a
    /// later format, or one that must not be written.
    package var fault: Message? {
        if hasJournal { return nil }
        guard bytes.starts(with: Array("SQLite format 3\0".utf8)) else { return "file is not a database" }
        let pageSize = Int(bytes[16]) << 8 | Int(bytes[17])
        let isPageSize = pageSize == 1 || (pageSize >= 512 && pageSize & (pageSize - 1) == 0)
        // File format versions 1 and 2, the fixed payload fractions, schema formats to 4, text in UTF-8.
        guard isPageSize, (1...2).contains(bytes[18]), (1...2).contains(bytes[19]), bytes[21] == 64, bytes[22] == 32,
            bytes[23] == 32, bytes[44...46].allSatisfy({ $0 == 0 }), bytes[47] <= 4,
            bytes[56...58].allSatisfy({ $0 == 0 }), bytes[59] <= 1
        else { return "its header is malformed" }
        return nil
    }

    /// The epoch of the last run that had the database (SQLite's user version, §1.3.12); 0 where none gave it one.
    package var generation: Int { bytes[60...63].reduce(0) { $0 << 8 | Int($1) } }

    /// The same as ``init(of:)``, on the thread that calls, which it blocks.
    package init(reading path: String) throws {
        // One that is empty, or begins with a zero, is none (SQLite's "Hot Rollback Journals").
        let journal = try? FileHandle(forReadingAtPath: path + "-journal")?.read(upToCount: 1)
        hasJournal = journal?.first ?? 0 != 0
        bytes = try Self.read(path)
    }

    /// - Returns: zeros for what the file does not have.
    private static func read(_ path: String) throws -> [UInt8] {
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        func check(_ code: Int32) throws {
            guard code != SQLITE_OK else { return }
            try failing("the store cannot be read", at: path) {
                throw DatabaseError(resultCode: ResultCode(rawValue: code))
            }
        }
        try check(sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil))
        var file: UnsafeMutablePointer<sqlite3_file>?
        try check(sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file))
        var bytes = [UInt8](repeating: 0, count: length)
        guard let read = file?.pointee.pMethods?.pointee.xRead else { return bytes }
        let code = read(file, &bytes, Int32(length), 0)
        // SQLITE_IOERR_SHORT_READ, which C makes of two others in a way that Swift does not see.
        if code != SQLITE_IOERR | 2 << 8 { try check(code) }
        return bytes
    }
}
