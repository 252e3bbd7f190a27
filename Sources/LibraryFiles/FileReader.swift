import BookModel
import Crypto
import Foundation

/// What a file of the library holds, read to its end.
package struct FileContent: Sendable, Hashable {
    package let sha256: String
    package let size: Int64
    /// Nanoseconds since 1970.
    package let modificationTime: Int64
    package let inode: UInt64
}

/// Reads whole files on a thread of its own.
package actor FileReader {
    private let thread = SerialQueueExecutor(label: "booksync.reader")
    nonisolated package var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    package init() {}

    /// - Parameter path: absolute; a symbolic link at its end is not followed.
    /// - Returns: nil when there is no such file.
    /// - Throws: ``Failure`` when it cannot be read to its end.
    package func content(of path: String) throws -> FileContent? {
        let descriptor = uninterrupted { open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ELOOP || errno == ENOTDIR { return nil }
            throw Failure.file("\(path) cannot be opened", errno: errno)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Failure.file("\(path) cannot be looked at", errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        var digest = SHA256()
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { chunk.deallocate() }
        while true {
            let count = uninterrupted { read(descriptor, chunk.baseAddress, chunk.count) }
            guard count >= 0 else { throw Failure.file("\(path) cannot be read", errno: errno) }
            if count == 0 { break }
            digest.update(bufferPointer: UnsafeRawBufferPointer(rebasing: chunk[..<count]))
        }
        let facts = LibraryDirectory.facts(status)
        return FileContent(
            sha256: digest.finalize().hexadecimal, size: facts.size, modificationTime: facts.modificationTime,
            inode: facts.inode)
    }
}
