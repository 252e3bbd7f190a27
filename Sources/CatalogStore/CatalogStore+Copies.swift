import BookModel
import Foundation
import GRDB

extension CatalogStore {
    /// Writes a copy of the database as it is now: on disk when the call returns. Others may read and write meanwhile. It needs no
    /// other file to be read.
    /// - Parameter path: of a file that is not there.
    package func copy(to path: String) async throws {
        let (origin, reader) = (self.path, self.reader)
        try await runBlocking {
            // By itself: not every disk has the shared memory that others would need. It is synced as a whole at the end.
            var alone = Configuration()
            alone.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF") }
            let what: Message = "the store cannot be copied"
            let copy = try failing(what, at: path) { try DatabaseQueue(path: path, configuration: alone) }
            try failing(what, at: origin) {
                try reader.backup(to: copy)
                _ = try copy.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA journal_mode = DELETE") }
                try copy.close()
            }
            let descriptor = open(path, O_RDWR | O_CLOEXEC)
            defer { Foundation.close(descriptor) }
            guard fsync(descriptor) == 0 else { throw Failure.file(what, errno: errno) }
        }
    }

    /// Has the database say of which run it is: ``StoreHeader/generation``.
    package func record(generation: Int) async throws {
        try await write("the run cannot be recorded", .relaxed) { database in
            try database.execute(sql: "PRAGMA user_version = \(Int32(clamping: generation))")
        }
    }

    /// To be called where the database is an older copy: what it says of unfinished transfers may be of other bytes than
    /// those that lie there now. They begin anew.
    package func forgetPartialContent() async throws {
        try await run(
            "the transfers cannot be reset", .durable,
            """
            UPDATE transfer SET etag = NULL, last_modified = NULL, validator_age = NULL, total = NULL,
                committed_length = 0, boot_id = NULL,
                state = CASE WHEN state = 'downloading' THEN 'waiting' ELSE state END
            """)
    }
}
