import BookModel
import Crypto
import Foundation

/// Reads and writes exported files. Everything blocks on the disk.
package enum ExportDisk {
    /// What stands at a path.
    package enum ExistingFile: Equatable {
        case nothing
        /// With its SHA-256.
        case file(String)
        /// A folder, a link, a device: nothing that booksync writes.
        case other
    }

    package static func existingFile(at path: String) throws -> ExistingFile {
        switch FileReader().look(at: path) {
        case .nothing, nil: return .nothing
        case .file(let found): return found.sha256.map(ExistingFile.file) ?? .other
        case .other: return .other
        case .unreadable(let error) where error.code == ENXIO: return .other
        case .unreadable(let error): throw Failure.file("\(path) cannot be read", errno: error.code)
        }
    }

    package static func digest(of bytes: [UInt8]) -> String { SHA256.hash(data: bytes).hexadecimal }

    /// Puts a file into the library, whole or not at all. The caller holds the library's lock.
    /// - Parameters:
    ///   - path: relative to the library.
    ///   - replaces: whether a file of that name may be overwritten; else it is left, and an error thrown.
    package static func write(_ bytes: [UInt8], to path: String, in library: String, replaces: Bool) throws {
        // Where the library is gone, that is what is told.
        _ = try LibraryDirectory("", in: library)
        let temporary = LibraryFolder.existing(at: library).ownFolder + "/export.tmp"
        try writing(path) { () throws(SystemError) in try createFile(at: temporary, with: bytes, mode: 0o666) }
        do {
            try LibraryDirectory.put(temporary, at: path, in: library, replaces: replaces)
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Puts a file where the user wants it, whole or not at all. What is no file (a terminal, a pipe) is written
    /// into. A link is followed.
    /// - Returns: whether there was anything to write.
    package static func write(_ bytes: [UInt8], to path: String) throws -> Bool {
        var target = path
        if let real = realpath(path, nil) {
            target = String(cString: real)
            free(real)
        }
        switch try existingFile(at: target) {
        case .file(digest(of: bytes)): return false
        case .other:
            try writing(path) { () throws(SystemError) in
                let descriptor = try systemCall { open(target, O_WRONLY | O_CLOEXEC) }
                defer { close(descriptor) }
                try writeAll(bytes, to: descriptor)
            }
        case .file, .nothing:
            try writing(path) { () throws(SystemError) in try replaceFile(at: target, with: bytes, mode: 0o666) }
        }
        return true
    }

    private static func writing(_ path: String, _ body: () throws(SystemError) -> Void) throws {
        do {
            try body()
        } catch {
            throw Failure.file("\(path) cannot be written", errno: error.code)
        }
    }
}
