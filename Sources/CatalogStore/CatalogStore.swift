import BookModel
import Foundation
import GRDB
import Synchronization

/// The SQLite database that holds what booksync learned and did: books, episodes, local files, transfers,
/// subscriptions.
///
/// All work happens on the database's own threads, so callers only suspend. A write that has begun runs to its end even
/// when the calling task is cancelled: a run that is stopped still records what it received. Every error is a `Failure`.
///
/// The database is in WAL mode: reading goes on while this or another process writes. Writers of several processes take
/// turns and wait up to 10 s for each other; after one such wait in vain nothing waits any more (``LockPatience``).
package final class CatalogStore: Sendable {
    package enum Access: Sendable {
        /// Creates the database and migrates it where needed. Its folder must exist.
        case readWrite
        /// The same, with the database for this process alone: no shared memory is used, which machines do not share.
        case exclusive
        /// Works beside a run that holds the library, and on media that cannot be written. The database must exist.
        case readOnly
    }

    /// How far a transaction must have come when the call returns.
    package enum Durability {
        /// Survives the death of the process; a power cut may take the last transactions back. For what can be learnt
        /// again from the catalog or from the disk.
        case relaxed
        /// Survives a power cut as well. For what nothing but this transaction says: a finished transfer, the word of
        /// the user.
        case durable
    }

    /// The file of the database.
    package let path: String
    let reader: any DatabaseReader
    /// nil when the store was opened for reading.
    private let writer: (any DatabaseWriter)?
    private let observedDamage = Mutex<Failure?>(nil)
    private let durableWrite = Mutex(false)
    private let patience: LockPatience
    /// Of the file that was opened; another at the path is none of this store's.
    private let file: UInt64?

    var isWritable: Bool { writer != nil }

    /// What was found wrong with the database's own file since it was opened; nil while nothing was. It may lie in a
    /// part that a run meets late.
    package var damage: Failure? { observedDamage.withLock { $0 } }

    /// Whether anything was written since it was opened that cannot be learnt again.
    package var hasWrittenDurably: Bool { durableWrite.withLock { $0 } }

    /// Opens the database at `path`.
    ///
    /// Reading on media that cannot be written may work on a private copy, which shows the moment of opening.
    /// - Throws: ``Failure``: `configuration` when a newer booksync made the database, `libraryUnwritable` when it
    ///   cannot be created or written, `inputOutput` when it is damaged, missing or cannot be read.
    package convenience init(path: String, access: Access) async throws {
        let patience = LockPatience()
        // Opening reads and may write files.
        let opened = try await runBlocking { try OpenedDatabase(path: path, access: access, patience: patience) }
        self.init(path: path, opened: opened, patience: patience)
    }

    private init(path: String, opened: OpenedDatabase, patience: LockPatience) {
        self.path = path
        self.patience = patience
        self.file = Self.fileNumber(of: path)
        self.reader = opened.reader
        self.writer = opened.writer
    }

    /// Closes the connections; what is called afterwards fails. Without it they close when the store is released.
    package func close() async throws {
        let (path, reader, writer, file) = (path, reader, writer, file)
        try await runBlocking {
            let hasMoved = Self.fileNumber(of: path) != file
            try failing("the store cannot be closed", at: path) {
                try reader.close()
            }
            if writer != nil, !hasMoved { Self.emptyLog(of: path) }
        }
    }

    private static func fileNumber(of path: String) -> UInt64? {
        var status = stat()
        return lstat(path, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    /// Has the content of the -wal file moved into the database, which only a connection that may write and closes last
    /// does: a pool's readers close after its writer. Where another process has the store open, that is left to it; and
    /// whatever else is in the way is met, and told, by whoever opens the store next.
    private static func emptyLog(of path: String) {
        guard [path, path + "-wal"].allSatisfy(FileManager.default.fileExists(atPath:)) else { return }
        _ = Result {
            let last = try DatabaseQueue(path: path)
            // Opening alone does not look at the file.
            _ = try last.read { try Int.fetchOne($0, sql: "PRAGMA schema_version") }
            try last.close()
        }
    }

    /// Runs `body` on one unchanging state of the database.
    /// - Parameter what: what has failed when `body` fails, for the user.
    func read<Value: Sendable>(
        _ what: Message, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let path = path
        try patience.requireLocks(what, at: path)
        return try await withCheckedThrowingContinuation { continuation in
            reader.asyncRead { access in
                let outcome = Result {
                    try failing(what, at: path) { try self.patience.watching { try body(access.get()) } }
                }
                self.recordDamage(outcome)
                continuation.resume(with: outcome)
            }
        }
    }

    private func recordDamage<Value>(_ outcome: Result<Value, any Error>) {
        guard case .failure(let failure as Failure) = outcome, failure.isStoreDamage else { return }
        observedDamage.withLock { $0 = $0 ?? failure }
    }

    /// Reads the whole database for contradictions, its indexes included, at some 100 MB a second.
    /// - Throws: ``Failure`` with ``Failure/isStoreDamage`` when there are any.
    package func check() async throws {
        let path = path
        let what: Message = "the store cannot be used"
        try await read(what) { database in
            guard let found = try String.fetchOne(database, sql: "PRAGMA integrity_check(1)"), found == "ok" else {
                throw damaged(what: what, path: path, why: "its pages contradict each other")
            }
        }
    }

    /// Runs `body` in one transaction, which is rolled back when `body` throws.
    func write<Value: Sendable>(
        _ what: Message, _ durability: Durability, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let writer = try writer(for: what)
        return try await withCheckedThrowingContinuation { continuation in
            writer.asyncWriteWithoutTransaction { database in
                continuation.resume(with: self.transact(what, in: database, deciding: { _ in durability }, body))
            }
        }
    }

    /// The same on the thread that calls, which it blocks: none of the cooperative pool. The state of the database may decide how
    /// durable the transaction has to be.
    func writeBlocking<Value>(
        _ what: Message, deciding durability: (Database) throws -> Durability, _ body: (Database) throws -> Value
    ) throws -> Value {
        try writer(for: what).writeWithoutTransaction { transact(what, in: $0, deciding: durability, body) }.get()
    }

    private func transact<Value>(
        _ what: Message, in database: Database, deciding durability: (Database) throws -> Durability,
        _ body: (Database) throws -> Value
    ) -> Result<Value, any Error> {
        let outcome = Result {
            try failing(what, at: path) {
                try patience.watchingWrite {
                    let durability = try durability(database)
                    if durability == .durable { durableWrite.withLock { $0 = true } }
                    return try database.transact(durability, body)
                }
            }
        }
        recordDamage(outcome)
        return outcome
    }

    private func writer(for what: Message) throws -> any DatabaseWriter {
        try patience.requireLocks(what, at: path)
        if let writer { return writer }
        throw Failure(
            .libraryUnwritable, disposition: .stop, what: what, why: "the store \(path) was opened for reading only")
    }
}

extension Database {
    /// SQLite refuses to change `synchronous` inside a transaction, so it is set around it.
    fileprivate func transact<Value>(
        _ durability: CatalogStore.Durability, _ body: (Database) throws -> Value
    ) throws -> Value {
        guard durability == .durable else { return try transact(body) }
        try execute(sql: "PRAGMA synchronous = FULL")
        let outcome = Result { try transact(body) }
        try execute(sql: "PRAGMA synchronous = NORMAL")
        return try outcome.get()
    }

    private func transact<Value>(_ body: (Database) throws -> Value) throws -> Value {
        var value: Value?
        // Immediate: a transaction that read first and then finds another process writing could not wait for it.
        try inTransaction(.immediate) {
            value = try body(self)
            return .commit
        }
        guard let value else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
        return value
    }
}
