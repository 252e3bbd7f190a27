import BookModel
import CFileSystem
import Foundation

/// Folders of the library, opened part by part so that no symbolic link on the way leads out of it.
///
/// Every call may block on the disk.
package struct LibraryDirectory: ~Copyable {
    private let folder: OpenedFolder
    /// Absolute.
    private let path: String

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
        path = relativePath.isEmpty ? library : "\(library)/\(relativePath)"
    }

    private static func opened(
        _ name: Substring, in folder: borrowing OpenedFolder, creating: Bool
    ) throws(SystemError) -> OpenedFolder {
        do {
            return try folder.folder(name)
        } catch let error where error.code == ENOENT && creating {
            do {
                try systemCall { mkdirat(folder.descriptor, String(name), 0o777) }
                fsync(folder.descriptor)
            } catch let error where error.code == EEXIST {
                // Made by another meanwhile.
            }
            return try folder.folder(name)
        }
    }

    /// Moves a file from outside to a path of the library, with the rights that new files get there; on disk when the call returns.
    package static func put(_ file: String, at path: String, in library: String, replaces: Bool) throws {
        let (folder, name) = splitLibraryPath(path)
        let directory = try LibraryDirectory(folder, in: library)
        try directory.receive(file, as: name, replaces: replaces, assignsRights: directory.givesRights)
        try directory.sync()
    }

    /// Returns when the names in the folder are on the disk itself, as far as its filesystem syncs folders.
    package func sync() throws { _ = try syncNames() }

    /// - Returns: false where the filesystem syncs no folders (CIFS, some of FUSE).
    package func syncNames() throws -> Bool {
        if uninterrupted({ fsync(folder.descriptor) }) == 0 { return true }
        let code = errno
        if [EINVAL, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(code) { return false }
        throw Failure.file("a folder of the library cannot be synced", errno: code)
    }

    /// Moves a file from outside here. A file that has the name already is only overwritten when `replaces` says so.
    /// - Parameter assignsRights: whether it gets those that files get which are made here.
    /// - Returns: whether it had to be copied, from another filesystem: then it has another inode.
    @discardableResult
    package func receive(
        _ path: String, as name: String, replaces: Bool, assignsRights: Bool = false
    ) throws -> Bool {
        if assignsRights { assignRights(to: path) }
        if replaces {
            if uninterrupted({ renameat(AT_FDCWD, path, folder.descriptor, name) }) == 0 { return false }
            let code = errno
            if code == EXDEV { return try receiveCopy(of: path, as: name, replaces: true) }
            throw Failure.file("\(name) cannot be put into its folder", errno: code)
        }
        return try takeExclusively(path, as: name)
    }

    /// Copies a file from another filesystem beside the name, on disk, then moves it there. What a kill leaves of the copy is
    /// overwritten by the next try.
    private func receiveCopy(of source: String, as name: String, replaces: Bool) throws -> Bool {
        let copy = "\(path)/.booksync-\(ExportDisk.digest(of: Array(name.utf8)).prefix(16))"
        defer { unlink(copy) }
        try copyWhole(source, to: copy)
        try receive(copy, as: name, replaces: replaces)
        unlink(source)
        return true
    }

    /// Whether the folder says which group or access list new files get (setgid, a default access list).
    package var givesRights: Bool {
        var status = stat()
        return fstat(folder.descriptor, &status) == 0
            && (status.st_mode & S_ISGID != 0
                || booksync_get_attribute(folder.descriptor, "system.posix_acl_default", nil, 0) > 0)
    }

    /// Gives a file the group and the access list that new files get here. Where that is not allowed, it keeps its own.
    private func assignRights(to file: String) {
        let list = "system.posix_acl_access"
        var status = stat()
        let probe = ".booksync-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        let model = openat(folder.descriptor, probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard model >= 0 else { return }
        defer { close(model) }
        unlinkat(folder.descriptor, probe, 0)
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0, fstat(model, &status) == 0 else { return }
        defer { close(descriptor) }
        _ = fchown(descriptor, uid_t.max, status.st_gid)
        _ = fchmod(descriptor, status.st_mode & 0o777)
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let size = booksync_get_attribute(model, list, &bytes, bytes.count)
        if size > 0 { _ = booksync_set_attribute(descriptor, list, bytes, size) }
    }

    /// Makes sure that what is about to be overwritten is what it was when that was decided, which may be hours ago. What
    /// is gone meanwhile is no hindrance. Whoever writes to it in the very moment between this and the overwriting is not
    /// noticed.
    package func requireUnchanged(_ name: String, since existing: FileAttributes) throws {
        guard var now = try attributes(of: name) else { return }
        // Not all filesystems keep it.
        now.inode = existing.inode
        if now == existing { return }
        throw Failure(
            .temporary, what: "\(name) cannot be replaced", why: "somebody wrote to it since the run began",
            remedy: "run again; nothing is fetched twice, and what was written is not lost")
    }

    /// Moves a file of another folder of the library here. Never overwrites.
    package func receive(_ oldName: String, from folder: borrowing LibraryDirectory, as name: String) throws {
        _ = try takeExclusively("\(folder.path)/\(oldName)", oldName, of: folder.folder.descriptor, as: name)
    }

    /// - Parameters:
    ///   - path: absolute.
    ///   - oldName: of the same file, below the folder `source`; nil for the path.
    private func takeExclusively(
        _ path: String, _ oldName: String? = nil, of source: CInt = AT_FDCWD, as name: String
    ) throws -> Bool {
        let (descriptor, oldName) = (folder.descriptor, oldName ?? path)
        let what: Message = "\(name) cannot be put into its folder"
        if uninterrupted({ booksync_rename_exclusively(source, oldName, descriptor, name) }) == 0 { return false }
        var code = errno
        if code == EINVAL || code == ENOSYS || code == ENOTSUP {
            // A filesystem that knows no such rename: look, then move.
            var status = stat()
            code = EEXIST
            if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) != 0 {
                if uninterrupted({ renameat(source, oldName, descriptor, name) }) == 0 { return false }
                code = errno
            }
        }
        if code == EXDEV { return try receiveCopy(of: path, as: name, replaces: false) }
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
        // A folder where another filesystem is mounted is busy.
        if [ENOTEMPTY, EEXIST, ENOENT, ENOTDIR, EBUSY].contains(code) { return false }
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

extension Failure {
    /// The library, or its disk, went away while a run was under way. Ends the run.
    package static func libraryVanished(_ library: String, why: Message) -> Failure {
        Failure(
            .libraryUnwritable, disposition: .stop, what: "the library \(library) is no longer where it was", why: why,
            remedy: "mount its disk again, or put its .booksync folder back, and run again; nothing was begun anew")
    }
}
