import BookModel
import Foundation

/// The folder that holds the audio, known to exist and to be writable.
package struct LibraryFolder: Sendable, Hashable {
    /// Absolute.
    package let path: String
    /// Where the store lies; absolute.
    package let storeFolder: String

    /// What booksync keeps for itself: the store, the lock and the partial files.
    package var ownFolder: String { path + "/.booksync" }
    package var partialFolder: String { ownFolder + "/partial" }
    /// The folder of the partial files, relative to the library.
    package static let partialPath = ".booksync/partial"
    /// Where files are that were joined, relative to the library: none of them is taken for an episode.
    package static let joinedPath = "Joined/"
    /// Where they are made, relative to the library, with what is encoded for them.
    package static let joiningPath = ".booksync/joining"
    /// Where files are made that go to their places when they are whole, relative to the library. The next run deletes it.
    package static let workPath = ".booksync/work"
    package var lockFile: String { ownFolder + "/lock" }
    /// See ``LibraryHolder``.
    var holderFile: String { ownFolder + "/holder" }

    /// The absolute path of something in the library.
    package func absolutePath(_ relative: String) -> String { path + "/" + relative }

    private init(path: String) {
        self.path = path
        storeFolder = StorePlaces.current?.folder(of: path) ?? path + "/.booksync"
    }

    /// Whether the store lies apart from the audio.
    package var isStoreApart: Bool { storeFolder != ownFolder }

    /// A library that is only read (`list`, `show`): nothing is created, nothing is tried.
    package static func existing(at path: String) -> LibraryFolder { LibraryFolder(path: path) }

    /// Opens a library for writing: makes the folder (its parent must be there) and what booksync keeps in it, and
    /// tries whether files can be made.
    /// - Parameter path: absolute.
    /// - Throws: ``Failure`` of kind `libraryUnwritable` that says why.
    package static func open(at path: String) async throws -> LibraryFolder {
        // Out here, where the task knows where stores lie.
        let folder = LibraryFolder(path: path)
        return try await runBlocking {
            try folder.make()
            try folder.requireOwnFiles()
            folder.keepOthersOut()
            try folder.tryWriting()
            return folder
        }
    }

    /// The absolute path of a file that is to be made in ``workPath``, where nothing is. Blocks on the disk.
    package static func newWorkFile(in library: String) throws -> String {
        _ = try LibraryDirectory(workPath[...], in: library)
        return "\(library)/\(workPath)/\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    }

    /// Takes away a library in which nothing was ever fetched; what others put beside ``ownFolder`` stays.
    package func remove() async throws {
        try await runBlocking {
            try FileManager.default.removeItem(atPath: ownFolder)
            if rmdir(path) != 0, errno != ENOTEMPTY {
                throw Self.unwritable(path, why: SystemError.last.message)
            }
        }
    }

    /// The room on the library's filesystem.
    /// - Throws: ``Failure`` of kind `inputOutput`.
    package func space() async throws -> DiskSpace {
        try await runBlocking { try DiskSpace(of: path) }
    }

    /// Makes the folder and what booksync keeps in it, where they are not there.
    func make() throws {
        try Self.makeFolder(path, in: path, mode: 0o777)
        try Self.makeFolder(ownFolder, in: path)
        try Self.makeFolder(partialFolder, in: path)
    }

    /// - Parameter mode: only the owner's unless said otherwise.
    package static func makeFolder(_ path: String, in library: String, mode: mode_t = 0o700) throws {
        do {
            try systemCall { mkdir(path, mode) }
            // Where the filesystem keeps no journal nothing else keeps the name. A parent that may not be read is left alone.
            let parent = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
            if let folder = try? OpenedFolder(parent) { fsync(folder.descriptor) }
        } catch let error where error.code == EEXIST {
            var status = stat()
            // The library itself may be a link to where the disk is; what is inside it may not lead out.
            let found = path == library ? stat(path, &status) : lstat(path, &status)
            guard found == 0 else { throw unwritable(library, why: "\(path): \(SystemError.last.message)") }
            guard status.st_mode & S_IFMT == S_IFDIR else {
                throw unwritable(
                    library, why: "\(path) is not a folder", remedy: "name a folder with --library, or move it away")
            }
        } catch let error where error.code == ENOENT {
            throw unwritable(
                library, why: "its parent folder does not exist",
                remedy: "create \(URL(filePath: library).deletingLastPathComponent().path(percentEncoded: false)),"
                    + " or mount the disk that it is on")
        } catch {
            throw unwritable(library, why: error.message)
        }
    }

    /// Permission bits tell too little (read-only mounts, quotas, access lists): making a file tells all.
    private func tryWriting() throws {
        let probe = partialFolder + Self.newProbe()
        do {
            close(try systemCall { Foundation.open(probe, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600) })
            try systemCall { unlink(probe) }
        } catch let error where error.code == ENOSPC || error.code == EDQUOT {
            throw Self.unwritable(
                path, why: error.message, remedy: "make room and run again; what is there stays")
        } catch {
            throw Self.unwritable(path, why: error.message)
        }
    }

    package static func unwritable(
        _ library: String, why: Message, remedy: Message = "make it writable, or name another with --library"
    ) -> Failure {
        Failure(
            .libraryUnwritable, disposition: .stop, what: "the library \(library) cannot be written", why: why,
            remedy: remedy)
    }
}
