import BookModel
import Foundation

/// As which shard each library of a fleet is filled, in a file of it that all workers see.
///
/// Where their number changes, books fall to other shards than those that have them. They are moved before anything is fetched.
package enum ShardRecord {
    private static let name = "shard"

    /// Makes sure that each library that there is was filled as the shard that it is now, and records it of the worker's own.
    ///
    /// Blocks on the disk.
    /// - Parameter libraries: their folders, one for each shard, in order.
    /// - Throws: ``Failure`` of kind `configuration` where one was filled as another shard, or before there were shards;
    ///   `libraryUnwritable`.
    package static func require(_ shard: Shard, of libraries: [String]) throws {
        for (index, library) in libraries.enumerated()
        where FileManager.default.fileExists(atPath: library + "/.booksync") {
            let recorded = try recorded(in: library)
            guard recorded != Shard(index: index, count: shard.count)?.description else { continue }
            let before: Message =
                recorded.map { "it was filled as shard \($0)" } ?? "it was filled before there were shards"
            throw Failure(
                .configuration, disposition: .stop, what: "\(library) is not shard \(index)/\(shard.count)",
                why: before,
                remedy: "run booksync move --rebalance while no worker runs; it moves books to their shards")
        }
        try write(shard, in: libraries[shard.index])
    }

    /// - Returns: nil where nothing is recorded.
    private static func recorded(in library: String) throws -> String? {
        let path = "\(library)/.booksync/\(name)"
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        } catch {
            throw Failure(
                .inputOutput, disposition: .stop, what: "\(path) cannot be read", why: Message(cause: error),
                remedy: "check the disk that holds the library")
        }
    }

    /// Records that a library is filled as that shard from now on. Blocks on the disk.
    package static func write(_ shard: Shard, in library: String) throws {
        let own = library + "/.booksync"
        let path = own + "/" + name
        guard try recorded(in: library) != shard.description else { return }
        let isNew = !FileManager.default.fileExists(atPath: own)
        // A new folder has its record from the start: other workers look at it at any time.
        let folder = isNew ? "\(own).new-\(String(UInt64.random(in: 0 ... .max), radix: 36))" : own
        try LibraryFolder.makeFolder(folder, in: library)
        do throws(SystemError) {
            try replaceFile(at: folder + "/" + name, with: Array(shard.description.utf8))
            if isNew { try systemCall { rename(folder, own) } }
        } catch {
            throw LibraryFolder.unwritable(library, why: "\(path): \(error.message)")
        }
    }
}
