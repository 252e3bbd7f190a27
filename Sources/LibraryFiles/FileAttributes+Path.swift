import BookModel
import Foundation

/// What a file looks like from outside; nil when there is none.
/// - Parameter followsLink: whether a symbolic link at the end of the path is followed.
package func fileAttributes(_ path: String, followsLink: Bool = true) -> FileAttributes? {
    var status = stat()
    let result = followsLink ? stat(path, &status) : lstat(path, &status)
    return result == 0 ? FileAttributes(status) : nil
}

/// What an open file looks like.
/// - Parameter path: for the user.
package func fileAttributes(of descriptor: CInt, at path: String) throws(Failure) -> FileAttributes {
    var status = stat()
    try systemCall("\(path) cannot be looked at") { fstat(descriptor, &status) }
    return FileAttributes(status)
}

/// Bytes of a file; nil when there is none.
package func fileSize(_ path: String) -> Int64? { fileAttributes(path)?.size }

/// Whether a folder is there, or a link to one.
package func isFolder(at path: String) -> Bool { fileAttributes(path)?.kind == .folder }

extension FileAttributes {
    package init(_ status: stat) {
        let kind: Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .symbolicLink
            default: .other
            }
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        self.init(
            size: Int64(status.st_size), modificationTime: time.nanoseconds, inode: UInt64(status.st_ino), kind: kind)
    }
}

extension timespec {
    /// Nanoseconds since 1970, or the closest number to them: they fit from 1677 to 2262, and file systems hold other times too.
    var nanoseconds: Int64 { Int64(tv_sec).multipliedSaturated(by: 1_000_000_000).addingSaturated(Int64(tv_nsec)) }
}
