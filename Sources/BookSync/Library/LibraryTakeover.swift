import BookModel
import Foundation
import LibraryFiles

/// Puts what a run still has open out of its reach, before another goes on in its library.
///
/// That run was silent for long and is believed dead; but it may only have been stopped, or cut off from the disk. When it wakes, it
/// writes to what it opened before it looks who has the library: partial files, to which it appends, and the store. These become
/// copies, and what it opened has no names any more.
struct LibraryTakeover: Sendable {
    let folder: LibraryFolder

    /// - Throws: ``Failure`` of kind `temporary` when it is writing just now.
    func execute() async throws {
        let folder = folder
        let (store, partials) = (folder.storePath, folder.partialFolder)
        try await runBlocking {
            // The log behind the database, which alone is a database as well: of an older moment.
            for path in [store, store + "-wal"] { try renewFile(path) }
            for suffix in ["-shm", "-journal"] { try deleteFile(store + suffix) }
            for name in try FileManager.default.contentsOfDirectory(atPath: partials) where !name.hasPrefix(".") {
                try renewFile(partials + "/" + name)
            }
        }
    }

    /// What the user should know of it.
    static func notice(_ owner: LockOwner) -> Message {
        "this run took the library over from one that gave no sign of life for a minute: \(owner.sentence)"
    }
}
