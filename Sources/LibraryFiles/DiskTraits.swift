import BookModel
import CFileSystem
import Foundation

/// What a library's disk can do, tried on a file of its own that is gone again.
package struct DiskTraits: Sendable, Hashable {
    /// As in `ext4`; nil where the system does not tell.
    package var kind: String?
    /// Whether other machines may have it, too.
    package var isShared: Bool
    package var keepsAttributes: Bool
    /// Whether a folder can be synced, so that a name is as sure as the bytes.
    package var syncsFolders: Bool
    /// True if a file can be renamed without ever overwriting another.
    package var renamesExclusively: Bool
    /// Bytes of the longest name: 255 nearly everywhere, 143 where names are encrypted.
    package var longestName: Int

    /// Blocks on the disk.
    /// - Throws: ``Failure`` of kind `libraryUnwritable` when no file can be made.
    package init(of library: LibraryFolder) throws {
        let mount = MountedFilesystem(of: library.path)
        (kind, isShared) = (mount?.kind, mount?.isShared ?? false)
        let hasPartials = fileAttributes(library.partialFolder, followsLink: false) != nil
        let folder = hasPartials ? library.partialFolder : library.ownFolder
        var limits = statvfs()
        longestName = statvfs(folder, &limits) == 0 ? Int(limits.f_namemax) : 255
        // Of three bytes a character, as Chinese titles are.
        let start = ".probe-\(getpid())-"
        let rest = max(0, min(255, longestName) - start.utf8.count)
        let longName = start + String(repeating: "听", count: rest / 3) + String(repeating: "x", count: rest % 3)
        do throws(SystemError) {
            let names = [folder + LibraryFolder.newProbe(), folder + "/" + longName]
            defer { for name in names { unlink(name) } }
            let file = try systemCall { open(names[0], O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600) }
            defer { close(file) }
            var note = FileNote()
            note[.tag] = "probe"
            keepsAttributes = note.write(to: file) && FileNote(of: file) == note
            // Some say that they take long names, and do not.
            if link(names[0], names[1]) != 0, errno == ENAMETOOLONG { longestName = min(longestName, 143) }
            let renamed = names[0] + "-renamed"
            defer { unlink(renamed) }
            let code = booksync_rename_exclusively(AT_FDCWD, names[0], AT_FDCWD, renamed) == 0 ? 0 : errno
            guard [0, EINVAL, ENOSYS, ENOTSUP, EEXIST].contains(code) else { throw SystemError(code: code) }
            renamesExclusively = code == 0 || code == EEXIST
            let directory = try systemCall { open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
            defer { close(directory) }
            syncsFolders = fsync(directory) == 0
        } catch {
            throw LibraryFolder.unwritable(library.path, why: error.message)
        }
    }
}
