import BookModel
import BookSync
import Foundation
import LibraryFiles

/// Tells when a file was written to, or another was put in its place.
actor WatchedFile {
    private struct Version: Equatable {
        let inode: UInt64
        let size: UInt64
        let modified: Date?
    }

    private let path: String
    private var seen: Version?

    init(path: String) {
        self.path = path
    }

    /// Whether it did since the last call. Looks at no byte of it.
    func hasChanged() async -> Bool {
        let path = path
        let version = try? await runBlocking {
            // A link is followed, as it is when the file is read.
            let file = URL(filePath: path).resolvingSymlinksInPath().path(percentEncoded: false)
            let facts = try FileManager.default.attributesOfItem(atPath: file)
            return Version(
                inode: (facts[.systemFileNumber] as? UInt64) ?? 0, size: (facts[.size] as? UInt64) ?? 0,
                modified: facts[.modificationDate] as? Date)
        }
        defer { seen = version }
        return version != seen
    }
}
