import BookModel
import Foundation

/// A file of the library, opened for being given away. It stays open, and the same file, until the last reference goes.
package final class OpenedFile: Sendable {
    /// Bytes.
    package var size: Int64 { facts.size }
    /// Nanoseconds since 1970.
    package var modificationTime: Int64 { facts.modificationTime }
    /// Lower-case hexadecimal; nil when the file is not as it was when that was reckoned.
    package let sha256: String?
    /// MIME
    package let mediaType: String
    private let descriptor: CInt
    package let facts: FileAttributes

    /// A strong entity tag, with its quotes: of the recorded bytes their digest, else of what the disk says of the file.
    package var entityTag: String {
        if let sha256 { return "\"sha256-\(sha256)\"" }
        let parts = [UInt64(bitPattern: size), UInt64(bitPattern: modificationTime), facts.inode]
        return "\"file-\(parts.map { String($0, radix: 16) }.joined(separator: "-"))\""
    }

    /// - Parameter file: what is recorded of it; nil where nothing is.
    private init(_ file: LocalFile?, path: String, descriptor: CInt, facts: FileAttributes) {
        self.descriptor = descriptor
        self.facts = facts
        let isAsRecorded = facts.size == file?.size && facts.modificationTime == file?.modificationTime
        sha256 = isAsRecorded ? file?.sha256 : nil
        mediaType = AudioExtension.mediaType(ofPath: path)
    }

    deinit {
        close(descriptor)
    }

    /// Opens the file without following a symbolic link anywhere below the library. Blocks on the disk.
    /// - Parameter library: absolute; it may itself be a link to where the disk is.
    /// - Returns: nil when there is no such file, or the path leads through a link or to what booksync keeps for itself.
    /// - Throws: ``Failure`` when there is one that cannot be opened.
    package static func open(_ file: LocalFile, in library: String) throws -> OpenedFile? {
        try open(file.path, recorded: file, in: library)
    }

    /// Opens what lies at a path with the same care. Blocks on the disk.
    /// - Parameters:
    ///   - path: relative to the library, with `/` between its parts.
    ///   - file: what is recorded of it; nil where nothing is.
    package static func open(_ path: String, recorded file: LocalFile?, in library: String) throws -> OpenedFile? {
        guard isLibraryPath(path) else { return nil }
        let (folder, name) = splitLibraryPath(path)
        do {
            var current = try OpenedFolder(library)
            for part in folder.split(separator: "/") { current = try current.folder(part) }
            // A pipe would wait for its other end.
            let descriptor = try current.open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            var status = stat()
            guard fstat(descriptor, &status) == 0, FileAttributes(status).kind == .file else {
                close(descriptor)
                return nil
            }
            return OpenedFile(file, path: path, descriptor: descriptor, facts: FileAttributes(status))
        } catch let error where [ENOENT, ENOTDIR, ELOOP, ENXIO].contains(error.code) {
            return nil
        } catch {
            throw Failure.file("\(path) cannot be opened", errno: error.code)
        }
    }

    /// Fills the buffer with the bytes from an offset on. Blocks on the disk.
    /// - Throws: ``Failure`` when the file has not so many, or was changed since it was opened: then these may be no
    ///   bytes of what the tag names.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws {
        do {
            guard try readAll(buffer, from: descriptor, at: offset) == buffer.count else { throw Self.changed }
            var status = stat()
            try systemCall { fstat(descriptor, &status) }
            let now = FileAttributes(status)
            guard now.size == facts.size, now.modificationTime == facts.modificationTime else { throw Self.changed }
        } catch let error as SystemError {
            throw Failure.file("a file of the library cannot be read", errno: error.code)
        }
    }

    private static let changed = Failure(
        .inputOutput, what: "a file of the library cannot be sent completely", why: "it was changed meanwhile")
}
