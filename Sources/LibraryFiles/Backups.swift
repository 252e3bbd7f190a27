import BookModel
import Foundation

/// Keeps files that a repair replaces although somebody wrote to them: in `.booksync/kept`, under their own paths.
///
/// A file is given its second name before the replacement is fetched, and stays at its place as it is until that is whole.
package struct Backups: Sendable {
    /// Relative to the library.
    package static let folder = ".booksync/kept"

    /// Absolute.
    let library: String

    package init(library: String) {
        self.library = library
    }

    /// Gives a file a second name; on disk when the call returns.
    /// - Returns: that name, relative to the library.
    package func keep(_ file: LocalFile) async throws -> String {
        let library = library
        return try await runBlocking {
            var status = stat()
            let original = library + "/" + file.path
            try systemCall("\(original) cannot be looked at") { lstat(original, &status) }
            let facts = FileAttributes(status)
            let (sourceFolder, sourceName) = splitLibraryPath(file.path)
            let folder = Self.folder + (sourceFolder.isEmpty ? "" : "/" + sourceFolder)
            let target = try LibraryDirectory(Substring(folder), in: library)
            var number = 1
            while true {
                let name = Self.name(of: sourceName, facts: facts, number: number)
                let path = library + "/" + folder + "/" + name
                number += 1
                if lstat(path, &status) == 0 {
                    // Kept already, by a repair that came to nothing.
                    if FileAttributes(status) == facts { return folder + "/" + name }
                    continue
                }
                if link(original, path) != 0 { try Self.copy(original, to: path, size: facts.size) }
                try target.sync()
                return folder + "/" + name
            }
        }
    }

    /// Takes the second name away from a file that was not replaced after all.
    package func release(_ kept: String) async throws {
        let library = library
        try await runBlocking {
            let (folder, name) = splitLibraryPath(kept)
            try LibraryDirectory(folder, in: library, creating: false).delete(name)
            try removeEmptyFolders(folder, in: library)
        }
    }

    /// The file's own name with the time at which it was last written to behind it, so that nothing that looks for audio
    /// finds an episode twice.
    private static func name(of name: String, facts: FileAttributes, number: Int) -> String {
        let date = Date(timeIntervalSince1970: Double(facts.modificationTime) / 1_000_000_000)
        let stamp = date.formatted(.inFileName)
        let suffix = ".kept-\(stamp)" + (number > 1 ? "-\(number)" : "")
        // Names have 255 bytes at most.
        return SafeName.cut(name, toBytes: 255 - suffix.utf8.count) + suffix
    }

    /// For filesystems where a file has one name only.
    private static func copy(_ original: String, to path: String, size: Int64) throws {
        unlink(path + ".new")
        try copyFile(original, to: path + ".new", size: size)
        try systemCall("\(original) cannot be kept") { rename(path + ".new", path) }
    }
}
