import BookModel
import Foundation
import GRDB

/// The connections to a database that was found usable: of a schema that this booksync knows, and readable.
struct OpenedDatabase: Sendable {
    let reader: any DatabaseReader
    let writer: (any DatabaseWriter)?

    init(path: String, access: CatalogStore.Access, patience: LockPatience) throws {
        switch access {
        case .readWrite:
            // GRDB writes to the file when it opens it for writing.
            let isMade = try Self.refuseUntouched(path: path)
            Self.makeForOwnerOnly(path)
            let pool = try failing("the store cannot be opened", at: path) { try Self.pool(path, patience) }
            if !isMade { try Self.makeSchema(in: pool, path: path) }
            (reader, writer) = (pool, pool)
        case .exclusive:
            let isNew = !FileManager.default.fileExists(atPath: path)
            Self.makeForOwnerOnly(path)
            let queue = try failing("the store cannot be opened", at: path) {
                try Self.exclusiveQueue(path: path, isNew: isNew, patience: patience)
            }
            try Self.makeSchema(in: queue, path: path)
            (reader, writer) = (queue, queue)
        case .readOnly:
            guard FileManager.default.fileExists(atPath: path) else {
                throw Failure(
                    .inputOutput, disposition: .stop, what: "the store cannot be opened", why: "there is no \(path)",
                    remedy: "check that the library is mounted, or fetch a book first")
            }
            self.reader = try failing("the store cannot be opened", at: path) {
                try Self.readOnly(path: path, patience: patience)
            }
            self.writer = nil
        }
    }

    /// Makes the file, where there is none, so that only its owner can read it; what SQLite puts beside it gets the same mode.
    /// Where it cannot be made, opening it says why.
    private static func makeForOwnerOnly(_ path: String) {
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    /// Of processes that turn a new database to WAL mode at once, SQLite refuses all but one without a wait.
    private static func pool(_ path: String, _ patience: LockPatience) throws -> DatabasePool {
        var tries = 0
        while true {
            do {
                return try DatabasePool(path: path, configuration: configuration(patience: patience))
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                guard patience.waits(afterTries: tries) else { throw error }
                tries += 1
            }
        }
    }

    /// Refuses a store that a newer booksync made, or to which others added triggers. Of one that cannot be read the
    /// connection that is opened for writing tells what is wrong.
    /// - Returns: whether it has its tables.
    private static func refuseUntouched(path: String) throws -> Bool {
        guard FileManager.default.fileExists(atPath: path) else { return false }
        do {
            return try DatabaseQueue(path: path, configuration: configuration(readonly: true))
                .read { try StoreSchema.requireOwn(in: $0, path: path, mayBeUnmade: true) }
        } catch is DatabaseError {
            return false
        }
    }

    private static func configuration(
        readonly: Bool = false, patience: LockPatience = LockPatience()
    ) -> Configuration {
        var configuration = Configuration()
        configuration.qos = .unspecified
        configuration.label = "CatalogStore"
        configuration.readonly = readonly
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .callback { patience.waits(afterTries: $0) }
        return configuration
    }

    /// One connection, which keeps the locks of the database while it is open. Such a database in WAL mode needs no shared memory
    /// (SQLite's WAL documentation, "Use of WAL Without Shared-Memory").
    private static func exclusiveQueue(path: String, isNew: Bool, patience: LockPatience) throws -> DatabaseQueue {
        var configuration = configuration(patience: patience)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { database in
            if !isNew { try StoreSchema.requireOwn(in: database, path: path, mayBeUnmade: true) }
            try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        }
        return queue
    }

    /// In one transaction: of two processes that open a new database, the second finds the tables made.
    private static func makeSchema(in pool: any DatabaseWriter, path: String) throws {
        try failing("the store cannot be made", at: path) {
            // What could not be looked at before, for a journal that only this connection may roll back, is now.
            let isMade = try pool.read { try StoreSchema.requireOwn(in: $0, path: path, mayBeUnmade: true) }
            if !isMade { try pool.write(StoreSchema.make) }
        }
    }

    /// A connection that only reads; the -wal and -shm files that SQLite makes for it beside the database may stay there.
    static func readOnly(path: String, patience: LockPatience) throws -> any DatabaseReader {
        do {
            let pool = try DatabasePool(path: path, configuration: configuration(readonly: true, patience: patience))
            try checkSchema(pool, path: path)
            return pool
        } catch let error as DatabaseError
            where
            ([.SQLITE_CANTOPEN, .SQLITE_READONLY].contains(error.resultCode)
            || [.SQLITE_FULL, .SQLITE_IOERR].contains(error.resultCode) && isDiskFull(at: path))
            && FileManager.default.isReadableFile(atPath: path)
        {
            // A database in WAL mode needs its -wal and -shm files beside it. Where they are not there and cannot be
            // made, as on a full disk, nobody who could write has the database open.
            return try privateCopy(path: path)
        }
    }

    /// A copy in a temporary folder, with what a killed run left beside it.
    private static func privateCopy(path: String) throws -> any DatabaseReader {
        let files = FileManager.default
        let folder = files.temporaryDirectory.appending(path: "booksync-\(UUID().uuidString)")
        try files.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let copy = folder.appending(path: "store").path
        let outcome = Result {
            // What undoes a transaction comes first: it may be undone meanwhile, and to do it again does no harm.
            for suffix in ["-journal", "", "-wal"] where files.fileExists(atPath: path + suffix) {
                try files.copyItem(atPath: path + suffix, toPath: copy + suffix)
            }
            let queue = try DatabaseQueue(path: copy, configuration: configuration())
            try checkSchema(queue, path: path)
            return queue
        }
        // The one connection keeps the files open, and needs no names for them from here on.
        try files.removeItem(at: folder)
        return try outcome.get()
    }

    private static func checkSchema(_ reader: any DatabaseReader, path: String) throws {
        _ = try reader.read { try StoreSchema.requireOwn(in: $0, path: path) }
    }
}
