import BookModel
import Crypto
import Foundation
import LibraryFiles
import NIOCore

/// The bytes of an unfinished transfer: a file that only grows at its end, hashed as it grows.
///
/// It belongs to one task at a time. Every method may block on the disk. Errors are ``Failure`` values.
package final class PartialFile {
    package let path: String
    /// -1 after the end of its use, and after it was handed over.
    private(set) var descriptor: CInt
    /// Whether the bytes go through the digests: those of a piece are put through them when they are taken over.
    private let digests: Bool
    private var sha256 = SHA256()
    private var promised: PromisedDigest?
    /// Bytes in the file, all of which went through the digests once ``digestExistingBytes()`` was called.
    package private(set) var length: Int64

    /// The name of an episode's partial file: derived from its identity, so that a later run finds it whatever became
    /// of names and addresses.
    package static func name(for episode: EpisodeIdentity) -> String {
        let identity = "\(episode.book.source)\u{0}\(episode.book.id)\u{0}\(episode.key)"
        return SHA256.hash(data: Array(identity.utf8)).prefix(16).hexadecimal + ".part"
    }

    /// Removes what was begun of an episode.
    /// - Parameter folder: of the partial files.
    package static func drop(_ episode: EpisodeIdentity, in folder: String) throws {
        let path = folder + "/" + name(for: episode)
        // Opening one that is not there would make it, for which there may be no room.
        guard fileSize(path) != nil else { return try PieceFiles.removeAll(beside: path) }
        try PartialFile(path, promised: nil).remove()
    }

    /// What a file of the partial files' folder is for: bytes of the transfer whose partial file is called `owner`.
    package static func part(inFileNamed name: String) -> (owner: String, kind: PartKind)? {
        let words = name.split(separator: ".", omittingEmptySubsequences: false)
        guard words.count >= 2, words[1] == "part" else { return nil }
        let owner = "\(words[0]).part"
        switch words.count {
        case 2: return (owner, .front)
        case 4: return (owner, .piece(isWhole: false))
        case 5: return (owner, .piece(isWhole: true))
        default: return nil
        }
    }

    package enum PartKind: Sendable {
        case front
        /// Of a large file, as ``PieceFiles`` names them.
        case piece(isWhole: Bool)
    }

    /// Opens the file, or creates it empty. A symbolic link in its place is refused.
    ///
    /// - Parameter digests: whether its bytes are to be put through digests.
    package init(_ path: String, promised digest: ContentDigest?, digests: Bool = true) throws {
        let flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        var descriptor = uninterrupted { Foundation.open(path, flags | O_EXCL, 0o666) }
        let isNew = descriptor >= 0
        if !isNew, errno == EEXIST { descriptor = uninterrupted { Foundation.open(path, flags, 0o666) } }
        guard descriptor >= 0 else {
            let code = errno
            guard code == ELOOP else {
                throw Failure.file("the partial file \(path) cannot be opened", errno: code)
            }
            throw Failure(
                .temporary, what: "the partial file \(path) cannot be used",
                why: "a symbolic link stands there, and links are not followed for writing", remedy: "remove it")
        }
        var status = stat()
        guard
            isNew
                || fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 1
        else {
            Foundation.close(descriptor)
            throw Failure(
                .temporary, what: "the partial file \(path) cannot be used",
                why: "it is no file, or one that has other names elsewhere", remedy: "move it away")
        }
        // Two runs that both believe to hold the library (somebody deleted its lock) must not both append. Where a
        // filesystem knows no such lock, there is nothing to learn from it.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
            Foundation.close(descriptor)
            throw Failure(
                .temporary, what: "the partial file \(path) cannot be used", why: "another process writes to it",
                remedy: "let it finish, then run again")
        }
        self.path = path
        self.descriptor = descriptor
        self.digests = digests
        length = Int64(status.st_size)
        promised = digest.map(PromisedDigest.init)
    }

    deinit {
        if descriptor >= 0 { Self.unlockAndClose(descriptor) }
    }

    /// Ends the use of the file. One that holds nothing is removed.
    package func close() {
        guard descriptor >= 0 else { return }
        if length == 0 { unlink(path) }
        Self.unlockAndClose(handOver())
    }

    /// Ends the use of the file here: whoever gets the descriptor closes it.
    func handOver() -> CInt {
        defer { descriptor = -1 }
        return descriptor
    }

    /// A child between `fork` and `exec` shares the descriptor, and with it the lock. Unlocking frees the file at once, for
    /// all who share it; closing alone would leave it locked until the child has gone on.
    static func unlockAndClose(_ descriptor: CInt) {
        flock(descriptor, LOCK_UN)
        Foundation.close(descriptor)
    }

    /// Deletes the file, and with it those of its pieces.
    package func remove() throws {
        try PieceFiles.removeAll(beside: path)
        try deleteFile(path)
        close()
    }

    /// Throws away everything behind the first `newLength` bytes. Call before ``digestExistingBytes()``.
    package func truncate(to newLength: Int64) throws {
        if newLength == 0 { removeOrigin() }
        try systemCall("the partial file \(path) cannot be cut") { ftruncate(descriptor, off_t(newLength)) }
        length = newLength
        sha256 = SHA256()
        promised?.reset()
    }

    /// Reads what an earlier run left, so that the digests cover it.
    package func digestExistingBytes() throws {
        try readExistingBytes { digest($0) }
    }

    private func readExistingBytes(_ body: (UnsafeRawBufferPointer) -> Void) throws {
        try Self.read(descriptor, at: path, from: 0, to: length, body)
    }

    /// - Parameter end: must be there; nil reads as far as there is anything.
    private static func read(
        _ descriptor: CInt, at path: String, from start: Int64, to end: Int64?,
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var offset = start
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { chunk.deallocate() }
        while end.map({ offset < $0 }) ?? true {
            let wanted = end.map { Int(min(Int64(chunk.count), $0 - offset)) } ?? chunk.count
            let count = try systemCall("the partial file \(path) cannot be read") {
                pread(descriptor, chunk.baseAddress, wanted, off_t(offset))
            }
            if count == 0, end == nil { return }
            guard count > 0 else { throw Failure.file("the partial file \(path) cannot be read", errno: EIO) }
            try body(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
            offset += Int64(count)
        }
    }

    /// Writes behind what is there. When the disk fills up midway, what fitted stays.
    package func append(_ part: ByteBuffer) throws {
        try part.withUnsafeReadableBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                try append(UnsafeRawBufferPointer(rebasing: rest.prefix(Self.sliceLength)))
                rest = rest.dropFirst(Self.sliceLength)
            }
        }
    }

    /// Bytes that are written and hashed at once: larger writes cost ext4 more, and a processor's cache has these.
    private static let sliceLength = 256 << 10

    private func append(_ bytes: UnsafeRawBufferPointer) throws {
        do {
            try writeAll(bytes, to: descriptor) { length += Int64($0) }
        } catch {
            throw Failure.file("the partial file \(path) cannot be written", errno: error.code)
        }
        digest(bytes)
    }

    /// Writes what another file holds from `offset` on behind what is there. A symbolic link is not followed.
    func append(contentsOf otherPath: String, from offset: Int64) throws {
        let other = try systemCall("the partial file \(otherPath) cannot be opened") {
            Foundation.open(otherPath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        }
        defer { Foundation.close(other) }
        try Self.read(other, at: otherPath, from: offset, to: nil) { try append($0) }
    }

    /// Whether the bytes from `offset` on are these.
    package func holds(_ part: ByteBuffer, at offset: Int64) throws -> Bool {
        try part.withUnsafeReadableBytes { expected in
            let found = UnsafeMutableRawBufferPointer.allocate(byteCount: expected.count, alignment: 1)
            defer { found.deallocate() }
            var count = 0
            while count < expected.count {
                let read = try systemCall("the partial file \(path) cannot be read") {
                    pread(
                        descriptor, found.baseAddress.map { $0 + count }, expected.count - count,
                        off_t(offset) + off_t(count))
                }
                guard read > 0 else { return false }
                count += read
            }
            return expected.elementsEqual(found)
        }
    }

    private func digest(_ bytes: UnsafeRawBufferPointer) {
        guard digests else { return }
        sha256.update(bufferPointer: bytes)
        promised?.update(bytes)
    }

    /// Returns when everything written is on the disk itself.
    /// - Throws: ``Failure`` also when the file holds other bytes than those that went through the digests: somebody
    ///   else wrote to it.
    package func sync() throws {
        try Self.requireLength(length, of: descriptor, at: path)
        try Self.sync(descriptor, at: path)
    }

    static func sync(_ descriptor: CInt, at path: String) throws {
        try systemCall("the partial file \(path) cannot be synced") { fsync(descriptor) }
    }

    @discardableResult
    static func requireLength(_ length: Int64, of descriptor: CInt, at path: String) throws -> FileAttributes {
        var found = try attributes(of: descriptor, at: path)
        if found.size != length {
            // A shared disk that heals may tell an older length until what was written to it has arrived.
            try sync(descriptor, at: path)
            found = try attributes(of: descriptor, at: path)
        }
        guard found.size == length else {
            throw Failure(
                .temporary, what: "the partial file \(path) cannot be used",
                why:
                    "it has \(found.size) bytes and not the \(length) that were received: something else changed it",
                remedy: "run again")
        }
        return found
    }

    private static func attributes(of descriptor: CInt, at path: String) throws -> FileAttributes {
        var status = stat()
        try systemCall("the partial file \(path) cannot be looked at") { fstat(descriptor, &status) }
        return FileAttributes(status)
    }

    /// Of all bytes, in lower-case hexadecimal.
    package func sha256Digest() -> String {
        sha256.finalize().hexadecimal
    }

    /// How a digest that became known only now compares; reads the file once more unless it is the one computed anyway.
    package func compare(with declared: ContentDigest) throws -> (fits: Bool, found: String) {
        if declared.algorithm == .sha256 {
            let found = sha256Digest()
            return (found == declared.hexadecimal, found)
        }
        var digest = PromisedDigest(declared)
        try readExistingBytes { digest.update($0) }
        return digest.compare()
    }

    /// How the digest that the catalog promised compares: nil when it promised none, else what was found.
    package func promisedDigest() -> (fits: Bool, found: String)? {
        promised?.compare()
    }
}
