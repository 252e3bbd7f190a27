import BookModel
import Foundation

/// What a file looks like from outside; nil when there is none.
package func fileAttributes(_ path: String) -> FileAttributes? {
    var status = stat()
    return stat(path, &status) == 0 ? FileAttributes(status) : nil
}

/// Bytes of a file; nil when there is none.
package func fileSize(_ path: String) -> Int64? { fileAttributes(path)?.size }

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
            size: Int64(status.st_size), modificationTime: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec),
            inode: UInt64(status.st_ino), kind: kind)
    }
}
