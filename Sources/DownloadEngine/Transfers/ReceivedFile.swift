import BookModel
import CFileSystem
import Foundation
import LibraryFiles

/// A file that has arrived whole and waits to be published. Whoever has it closes it.
struct ReceivedFile: Sendable {
    let wanted: TransferRequest
    /// Of the answer that it came with.
    let validator: ContentValidator
    /// Of the partial file.
    let path: String
    /// What that says of its bytes: until it is announced, a run goes on from it.
    let note: PartialNote?
    /// Holds the partial file's lock.
    let descriptor: CInt
    /// Bytes.
    let size: Int64
    /// Lower-case hexadecimal.
    let sha256: String
    let verification: LocalFile.Verification

    /// Where the bytes came from, without secrets.
    var address: String? { wanted.episode.address?.withoutSecrets }

    /// What the store is to say of it.
    /// - Parameter facts: what it looks like in its place.
    func record(as facts: FileAttributes) -> LocalFile {
        var file = LocalFile(
            episode: wanted.episode.identity, path: wanted.path, size: facts.size, sha256: sha256,
            modificationTime: facts.modificationTime, inode: facts.inode, validator: validator, fetchedAt: Date(),
            verification: verification, fetchedFrom: address)
        file.recordClaims(of: wanted.episode)
        return file
    }

    /// Writes into the file whose it is.
    ///
    /// - Returns: what is on disk now and will be at the file's final path.
    /// - Throws: ``Failure`` when something else wrote to the file.
    func mark() throws -> FileAttributes {
        FileMark(episode: wanted.episode.identity, sha256: sha256, address: address)
            .write(to: descriptor, beside: note?.fileNote ?? FileNote())
        return try PartialFile.requireLength(size, of: descriptor, at: path)
    }

    /// Has the disk begin with what ``sync()`` waits for.
    func startSync() { booksync_start_sync(descriptor) }

    /// Returns when the bytes are on the disk itself.
    func sync() throws { try PartialFile.sync(descriptor, at: path) }

    /// - Parameter isPublished: whether it has its final name, where nobody looks for a lock.
    func close(isPublished: Bool) {
        if isPublished { Foundation.close(descriptor) } else { PartialFile.unlockAndClose(descriptor) }
    }
}
