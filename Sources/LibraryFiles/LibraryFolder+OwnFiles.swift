import BookModel
import Foundation

extension LibraryFolder {
    /// What is written where it stands, and opened by libraries that ask no questions: through a link it would be another's
    /// file.
    private static let writtenInPlace: Set = [
        "lock", "holder", "store.sqlite", "store.sqlite-wal", "store.sqlite-shm", "store.sqlite-journal",
    ]

    /// Refuses a library in whose `.booksync` stands what no booksync put there: a symbolic link, a pipe that would be waited
    /// for, a file that has another name elsewhere. Blocks on the disk.
    ///
    /// - Throws: ``Failure`` of kind `libraryUnwritable`. Nothing where there is no `.booksync`.
    package func requireOwnFiles() throws {
        var status = stat()
        guard lstat(ownFolder, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw strange(".booksync", Self.kind(status) ?? "a file") }
        for name in try names() {
            guard lstat(ownFolder + "/" + name, &status) == 0 else { continue }
            let isInPlace = Self.writtenInPlace.contains(name)
            if let kind = Self.kind(status) { throw strange(".booksync/" + name, kind) }
            guard isInPlace else { continue }
            if status.st_mode & S_IFMT == S_IFDIR { throw strange(".booksync/" + name, "a folder") }
            if status.st_nlink > 1 { throw strange(".booksync/" + name, "a hard link, a file that has other names") }
        }
    }

    /// Keeps others out of what booksync keeps for itself, whatever the umask is; where that is not ours to change, it stays.
    func keepOthersOut() {
        var status = stat()
        guard lstat(ownFolder, &status) == 0, status.st_mode & 0o077 != 0 else { return }
        chmod(ownFolder, status.st_mode & 0o700)
    }

    private func names() throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: ownFolder)
        } catch {
            throw Self.unwritable(path, why: "\(ownFolder): \(error)")
        }
    }

    /// nil for files and folders.
    private static func kind(_ status: stat) -> Message? {
        switch status.st_mode & S_IFMT {
        case S_IFREG, S_IFDIR: nil
        case S_IFLNK: "a symbolic link"
        case S_IFIFO: "a pipe"
        case S_IFSOCK: "a socket"
        default: "a device"
        }
    }

    private func strange(_ name: String, _ kind: Message) -> Failure {
        Failure(
            .libraryUnwritable, disposition: .stop, what: "the library \(path) cannot be used",
            why: "\(name) is \(kind), and booksync did not make it", remedy: "move it away")
    }
}
