import BookModel
import CFileSystem
import Foundation

/// Folders of the library, opened part by part so that no symbolic link on the way leads out of it.
///
/// Every call may block on the disk.
package struct LibraryDirectory: ~Copyable {
    private let folder: OpenedFolder

    /// Opens a folder of the library; what is created of it is synced.
    ///
    /// - Parameters:
    ///   - relativePath: with `/` between its parts; "" is the library itself.
    ///   - creating: whether to create what is missing of it. Only in a library that is there: on a bare mount point, whose
    ///     disk went away, nothing is created.
    package init(_ relativePath: Substring, in library: String, creating: Bool = true) throws {
        var current: OpenedFolder
        do {
            current = try OpenedFolder(library)
        } catch {
            throw Failure.file("the library \(library) cannot be opened", errno: error.code)
        }
        if creating {
            var status = stat()
            guard fstatat(current.descriptor, ".booksync", &status, AT_SYMLINK_NOFOLLOW) == 0 else {
                throw Failure.libraryVanished(library, why: ".booksync: \(SystemError.last.message)")
            }
        }
        for part in relativePath.split(separator: "/") {
            do {
                current = try Self.opened(part, in: current, creating: creating)
            } catch let error where error.code == ENOTDIR || error.code == ELOOP {
                throw Failure(
                    .temporary, what: "the folder \(relativePath) cannot be used",
                    why: "'\(part)' is a file or a symbolic link, and links are not followed for writing",
                    remedy: "move it away or rename it")
            } catch {
                throw Failure.file("the folder \(relativePath) cannot be opened", errno: error.code)
            }
        }
        folder = current
    }

    private static func opened(
        _ name: Substring, in folder: borrowing OpenedFolder, creating: Bool
    ) throws(SystemError) -> OpenedFolder {
        do {
            return try folder.folder(name)
        } catch let error where error.code == ENOENT && creating {
            do {
                try systemCall { mkdirat(folder.descriptor, String(name), 0o755) }
                fsync(folder.descriptor)
            } catch let error where error.code == EEXIST {
                // Made by another meanwhile.
            }
            return try folder.folder(name)
        }
    }

    /// Returns when the names in the folder are on the disk itself.
    package func sync() throws {
        try systemCall("a folder of the library cannot be synced") { fsync(folder.descriptor) }
    }

    /// Moves a file from outside here. A file that has the name already is only overwritten when `replaces` says so.
    package func receive(_ path: String, as name: String, replaces: Bool) throws {
        if replaces {
            try systemCall("\(name) cannot be put into its folder") {
                renameat(AT_FDCWD, path, folder.descriptor, name)
            }
        } else {
            try takeExclusively(path, of: AT_FDCWD, as: name)
        }
    }

    /// Makes sure that what is about to be overwritten is what it was when that was decided, which may be hours ago. What
    /// is gone meanwhile is no hindrance. Whoever writes to it in the very moment between this and the overwriting is not
    /// noticed.
    package func requireUnchanged(_ name: String, since existing: FileAttributes) throws {
        guard let now = try attributes(of: name), now != existing else { return }
        throw Failure(
            .temporary, what: "\(name) cannot be replaced", why: "somebody wrote to it since the run began",
            remedy: "run again; nothing is fetched twice, and what was written is not lost")
    }

    /// Moves a file of another folder of the library here. Never overwrites.
    package func receive(_ oldName: String, from folder: borrowing LibraryDirectory, as name: String) throws {
        try takeExclusively(oldName, of: folder.folder.descriptor, as: name)
    }

    private func takeExclusively(_ oldName: String, of source: CInt, as name: String) throws {
        let descriptor = folder.descriptor
        let what: Message = "\(name) cannot be put into its folder"
        if uninterrupted({ booksync_rename_exclusively(source, oldName, descriptor, name) }) == 0 { return }
        var code = errno
        if code == EINVAL || code == ENOSYS || code == ENOTSUP {
            // A filesystem that knows no such rename: look, then move.
            var status = stat()
            code = EEXIST
            if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) != 0 {
                if uninterrupted({ renameat(source, oldName, descriptor, name) }) == 0 { return }
                code = errno
            }
        }
        guard code == EEXIST else { throw Failure.file(what, errno: code) }
        throw Failure(
            .temporary, what: what, why: "a file that booksync did not fetch stands there",
            remedy: "move it away and run again; nothing is fetched twice")
    }

    /// Deletes a file here; one that is gone already is no error.
    package func delete(_ name: String) throws {
        guard unlinkat(folder.descriptor, name, 0) == 0 || errno == ENOENT else {
            throw Failure.file("\(name) cannot be deleted", errno: errno)
        }
    }

    /// - Returns: whether the folder was empty, and is gone.
    func removeIfEmpty(folder name: String) throws -> Bool {
        if unlinkat(folder.descriptor, name, AT_REMOVEDIR) == 0 { return true }
        let code = errno
        if code == ENOTEMPTY || code == EEXIST || code == ENOENT || code == ENOTDIR { return false }
        throw Failure.file("the folder \(name) cannot be deleted", errno: code)
    }

    package func facts(of name: String) throws -> FileAttributes {
        guard let facts = try attributes(of: name) else {
            throw Failure.file("\(name) cannot be looked at", errno: ENOENT)
        }
        return facts
    }

    /// - Returns: nil when nothing has that name.
    private func attributes(of name: String) throws -> FileAttributes? {
        do {
            return try folder.attributes(of: name)
        } catch {
            throw Failure.file("\(name) cannot be looked at", errno: error.code)
        }
    }
}

/// Deletes a folder of the library that is empty, and those above it that become so; never the library itself.
///
/// - Parameter relativePath: with `/` between its parts.
package func removeEmptyFolders(_ relativePath: Substring, in library: String) throws {
    var path = relativePath
    while !path.isEmpty {
        let (parent, name) = splitLibraryPath(String(path))
        guard try LibraryDirectory(parent, in: library, creating: false).removeIfEmpty(folder: name) else { return }
        path = parent
    }
}

/// The folder and the name of a library-relative path; the folder of a bare name is "".
package func splitLibraryPath(_ path: String) -> (folder: Substring, name: String) {
    // By bytes, as the system reads paths.
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", path) }
    return (path[..<slash], String(path[path.utf8.index(after: slash)...]))
}

extension Failure {
    /// The library, or its disk, went away while a run was under way. Ends the run.
    package static func libraryVanished(_ library: String, why: Message) -> Failure {
        Failure(
            .libraryUnwritable, disposition: .stop, what: "the library \(library) is no longer where it was", why: why,
            remedy: "mount its disk again, or put its .booksync folder back, and run again; nothing was begun anew")
    }
}
