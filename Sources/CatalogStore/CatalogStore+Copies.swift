import BookModel
import Dispatch
import GRDB

extension CatalogStore {
    /// Writes a copy of the database as it is now: on disk when the call returns. Others may read and write meanwhile.
    /// - Parameter path: of a file that is not there.
    package func copy(to path: String) async throws {
        let (origin, reader) = (self.path, self.reader)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        try failing("the store cannot be copied", at: origin) {
                            let copy = try DatabaseQueue(path: path)
                            try reader.backup(to: copy)
                            try copy.close()
                        }
                    })
            }
        }
    }

    /// To be called where the database is an older copy: what it says of unfinished transfers may be of other bytes than
    /// those that lie there now. They begin anew.
    package func forgetPartialContent() async throws {
        try await write("the transfers cannot be reset", .durable) { database in
            try database.execute(
                sql: """
                    UPDATE transfer SET etag = NULL, last_modified = NULL, validator_age = NULL, total = NULL,
                        committed_length = 0, boot_id = NULL, sha256 = NULL, path = NULL,
                        state = CASE WHEN state IN ('downloading', 'verifying') THEN 'waiting' ELSE state END
                    """)
        }
    }
}
