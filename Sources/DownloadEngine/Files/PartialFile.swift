import BookModel
import Crypto
import Foundation
import LibraryFiles
import NIOCore

/// The bytes of an unfinished transfer: a file that grows at its end, and is hashed as it grows. Other connections may write
/// ahead of it (``PartialNote``): their bytes are hashed as it comes to them.
///
/// It belongs to one task at a time. Every method may block on the disk. Errors are ``Failure`` values.
package final class PartialFile {
    package let path: String
    /// -1 after the end of its use, and after it was handed over.
    private(set) var descriptor: CInt
    private let algorithms: Set<ContentDigest.Algorithm>
    private var digests: Digests
    /// Bytes from the file's beginning on, all of which went through the digests once ``digestExistingBytes()`` was called.
    package private(set) var length: Int64
    /// What the file said of its bytes when it was opened, or was told to say since; ``SegmentedDownload`` writes more.
    private(set) var note: PartialNote?
    /// Whether there may be bytes behind ``length``.
    var isInParts: Bool

    /// The name of an episode's partial file: derived from its identity, so that a later run finds it whatever became
    /// of names and addresses.
    package static func name(for episode: EpisodeIdentity) -> String {
        let identity = "\(episode.book.source)\u{0}\(episode.book.id)\u{0}\(episode.key)"
        return SHA256.hash(data: Array(identity.utf8)).prefix(16).hexadecimal + ".part"
    }

    /// Removes what was begun of episodes.
    package static func drop(_ episodes: [EpisodeIdentity], of library: String) async throws {
        try await runBlocking {
            for episode in episodes { try drop(episode, in: library + "/" + LibraryFolder.partialPath) }
        }
    }

    /// - Parameter folder: of the partial files.
    static func drop(_ episode: EpisodeIdentity, in folder: String) throws {
        let path = folder + "/" + name(for: episode)
        // Opening one that is not there would make it, for which there may be no room.
        guard fileSize(path) != nil else { return }
        try PartialFile(path, promised: nil).remove()
    }

    /// Opens the file, or creates it empty. A symbolic link in its place is refused.
    package init(_ path: String, promised digest: ContentDigest?) throws {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
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
        note = status.st_size > 0 ? PartialNote(of: descriptor) : nil
        isInParts = note?.written != nil
        length = note?.countOfParts?.front ?? Int64(status.st_size)
        algorithms = [.sha256, digest?.algorithm ?? .sha256]
        digests = Digests(algorithms)
    }

    deinit {
        if descriptor >= 0 { Self.unlockAndClose(descriptor) }
    }

    /// Ends the use of the file. One that holds nothing is removed.
    package func close() {
        guard descriptor >= 0 else { return }
        if length == 0, !isInParts { unlink(path) }
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

    /// Deletes the file.
    package func remove() throws {
        try deleteFile(path)
        close()
    }

    /// Throws away everything behind the first `newLength` bytes, but for what was written ahead of them; with 0 all. Call before
    /// ``digestExistingBytes()``.
    package func truncate(to newLength: Int64) throws {
        length = newLength
        digests = Digests(algorithms)
        if newLength == 0 { removeNote() }
        if newLength == 0 || !isInParts { try cut() }
    }

    /// Throws away what was written ahead.
    func endParts() throws { if isInParts { try cut() } }

    private func cut() throws {
        // Others have noted more since. Whichever step a kill comes after, what is there can be told.
        var rest = isInParts ? PartialNote(of: descriptor) : nil
        isInParts = false
        if let synced = rest.map({ min($0.committedLength, length) }) {
            rest?.synced = synced > 0 ? [0..<synced] : []
            rest?.written = length > 0 ? [0..<length] : []
        }
        if let rest { _ = set(rest) }
        try systemCall("the partial file \(path) cannot be cut") { ftruncate(descriptor, off_t(length)) }
        rest?.written = nil
        if let rest { _ = set(rest) }
    }

    /// Says whose bytes are about to be written, or how many of them reached the disk.
    /// - Returns: whether the filesystem keeps it.
    func setNote(of record: TransferRecord) -> Bool {
        guard var new = PartialNote(of: record) else { return false }
        if isInParts, let note, note.isOf(new.validator, total: new.total) {
            (new.written, new.synced) = (note.trustedParts, note.synced)
        }
        return set(new)
    }

    private func set(_ new: PartialNote) -> Bool {
        guard new.fileNote.write(to: descriptor) else { return false }
        note = new
        return true
    }

    func removeNote() {
        FileNote.remove(from: descriptor)
        note = nil
    }

    /// Reads what an earlier run left, so that the digests cover it.
    package func digestExistingBytes() throws {
        try read(from: 0, to: length) { digests.update($0) }
    }

    /// Takes what others wrote ahead into the file's beginning, up to the byte, exclusive.
    func takeOver(to end: Int64) throws {
        try read(from: length, to: end) { digests.update($0) }
        length = end
    }

    private func read(from start: Int64, to end: Int64, _ body: (UnsafeRawBufferPointer) -> Void) throws {
        var offset = start
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { chunk.deallocate() }
        while offset < end {
            let count = try systemCall("the partial file \(path) cannot be read") {
                pread(descriptor, chunk.baseAddress, Int(min(Int64(chunk.count), end - offset)), off_t(offset))
            }
            guard count > 0 else { throw Failure.file("the partial file \(path) cannot be read", errno: EIO) }
            body(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
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
        try writeAll(bytes, to: descriptor, at: length, "the partial file \(path) cannot be written") {
            length += Int64($0)
        }
        digests.update(bytes)
    }

    /// Whether the bytes from `offset` on are these.
    package func holds(_ part: ByteBuffer, at offset: Int64) throws -> Bool {
        try part.withUnsafeReadableBytes { expected in
            let found = UnsafeMutableRawBufferPointer.allocate(byteCount: expected.count, alignment: 1)
            defer { found.deallocate() }
            do throws(SystemError) {
                let count = try readAll(found, from: descriptor, at: offset)
                return count == expected.count && expected.elementsEqual(found)
            } catch {
                throw Failure.file("the partial file \(path) cannot be read", errno: error.code)
            }
        }
    }

    /// Returns when everything written is on the disk itself.
    /// - Throws: ``Failure`` also when the file holds other bytes than those that went through the digests: somebody
    ///   else wrote to it.
    package func sync() throws {
        if !isInParts { try Self.requireLength(length, of: descriptor, at: path) }
        try Self.sync(descriptor, at: path)
    }

    static func sync(_ descriptor: CInt, at path: String) throws {
        try systemCall("the partial file \(path) cannot be synced") { fsync(descriptor) }
    }

    @discardableResult
    static func requireLength(_ length: Int64, of descriptor: CInt, at path: String) throws -> FileAttributes {
        var found = try fileAttributes(of: descriptor, at: path)
        if found.size != length {
            // A shared disk that heals may tell an older length until what was written to it has arrived.
            try sync(descriptor, at: path)
            found = try fileAttributes(of: descriptor, at: path)
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

    /// Of all bytes, in lower-case hexadecimal.
    package func sha256Digest() -> String {
        digests.values[.sha256, default: ""]
    }

    /// How a digest compares; reads the file once more unless it is one that was computed as the file grew.
    package func compare(with declared: ContentDigest) throws -> (fits: Bool, found: String) {
        var digests = digests
        if !algorithms.contains(declared.algorithm) {
            digests = Digests([declared.algorithm])
            try read(from: 0, to: length) { digests.update($0) }
        }
        let found = digests.values[declared.algorithm, default: ""]
        return (found == declared.hexadecimal, found)
    }
}
