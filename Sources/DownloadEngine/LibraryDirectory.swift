import BookModel
import CRename
import Foundation

/// Folders of the library, opened part by part so that no symbolic link on the way leads out of it.
struct LibraryDirectory: ~Copyable {
    let descriptor: CInt

    /// Opens a folder of the library and creates what is missing of it; what is created is synced.
    ///
    /// - Parameters:
    ///   - relativePath: with `/` between its parts; "" is the library itself.
    init(_ relativePath: Substring, in library: String) throws {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        var current = Foundation.open(library, flags)
        guard current >= 0 else { throw Failure.file("the library \(library) cannot be opened", errno: errno) }
        for part in relativePath.split(separator: "/") {
            var next = openat(current, String(part), flags | O_NOFOLLOW)
            if next < 0, errno == ENOENT {
                if mkdirat(current, String(part), 0o755) == 0 {
                    fsync(current)
                } else if errno != EEXIST {
                    let code = errno
                    close(current)
                    throw Failure.file("the folder \(relativePath) cannot be created", errno: code)
                }
                next = openat(current, String(part), flags | O_NOFOLLOW)
            }
            let code = errno
            close(current)
            guard next >= 0 else {
                // ENOTDIR is what Linux answers for a symbolic link here, ELOOP what others do.
                if code == ENOTDIR || code == ELOOP {
                    throw Failure(
                        .temporary, what: "the folder \(relativePath) cannot be used",
                        why: "'\(part)' is a file or a symbolic link, and links are not followed for writing",
                        remedy: "move it away or rename it")
                }
                throw Failure.file("the folder \(relativePath) cannot be opened", errno: code)
            }
            current = next
        }
        descriptor = current
    }

    deinit {
        close(descriptor)
    }

    /// Returns when the names in the folder are on the disk itself.
    func sync() throws {
        guard fsync(descriptor) == 0 else {
            throw Failure.file("a folder of the library cannot be synced", errno: errno)
        }
    }

    /// Moves a file here under a new name. A file that has the name already is only overwritten when `replaces` says so.
    func receive(_ path: String, as name: String, replaces: Bool) throws {
        let what = "\(name) cannot be put into its folder"
        if replaces {
            guard renameat(AT_FDCWD, path, descriptor, name) == 0 else { throw Failure.file(what, errno: errno) }
            return
        }
        if booksync_rename_exclusively(AT_FDCWD, path, descriptor, name) == 0 { return }
        var code = errno
        if code == EINVAL || code == ENOSYS || code == ENOTSUP {
            // A filesystem that knows no such rename: look, then move.
            var status = stat()
            code = EEXIST
            if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) != 0 {
                if renameat(AT_FDCWD, path, descriptor, name) == 0 { return }
                code = errno
            }
        }
        guard code == EEXIST else { throw Failure.file(what, errno: code) }
        throw Failure(
            .temporary, what: what, why: "a file that booksync did not fetch stands there",
            remedy: "move it away and run again; the episode is already received")
    }

    /// Size, modification time in nanoseconds and inode of a file here.
    func facts(of name: String) throws -> (size: Int64, modificationTime: Int64, inode: UInt64) {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw Failure.file("\(name) cannot be looked at", errno: errno)
        }
        #if os(Linux)
            let time = status.st_mtim
        #else
            let time = status.st_mtimespec
        #endif
        let nanoseconds = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        return (Int64(status.st_size), nanoseconds, UInt64(status.st_ino))
    }
}
