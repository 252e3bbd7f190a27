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
        let (folder, name) = splitLibraryPath(path)
        let directory = try LibraryDirectory(folder, in: library)
        let temporary = LibraryFolder.existing(at: library).ownFolder + "/export.tmp"
        try create(temporary, bytes, for: path)
        do {
            try directory.receive(temporary, as: name, replaces: replaces)
        } catch {
            unlink(temporary)
            throw error
        }
        try directory.sync()
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
            let descriptor = uninterrupted { open(target, O_WRONLY | O_CLOEXEC) }
            guard descriptor >= 0 else { throw Failure.file("\(path) cannot be written", errno: errno) }
            defer { close(descriptor) }
            try writeBytes(bytes, to: descriptor, for: path)
        case .file, .nothing:
            let temporary = "\(target).\(getpid()).tmp"
            try create(temporary, bytes, for: path)
            guard uninterrupted({ rename(temporary, target) }) == 0 else {
                let code = errno
                unlink(temporary)
                throw Failure.file("\(path) cannot be written", errno: code)
            }
        }
        return true
    }

    private static func create(_ path: String, _ bytes: [UInt8], for name: String) throws {
        unlink(path)
        let descriptor = uninterrupted { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644) }
        guard descriptor >= 0 else { throw Failure.file("\(name) cannot be written", errno: errno) }
        do {
            defer { close(descriptor) }
            try writeBytes(bytes, to: descriptor, for: name)
            guard uninterrupted({ fsync(descriptor) }) == 0 else {
                throw Failure.file("\(name) cannot be written", errno: errno)
            }
        } catch {
            unlink(path)
            throw error
        }
    }

    private static func writeBytes(_ bytes: [UInt8], to descriptor: Int32, for name: String) throws {
        do {
            try writeAll(bytes, to: descriptor)
        } catch {
            throw Failure.file("\(name) cannot be written", errno: error.code)
        }
    }
}
