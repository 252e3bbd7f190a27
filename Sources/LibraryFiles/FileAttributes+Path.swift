import BookModel
import Foundation

/// What a file looks like from outside; nil when there is none.
package func fileAttributes(_ path: String) -> FileAttributes? {
    var status = stat()
    return stat(path, &status) == 0 ? FileAttributes(status) : nil
}

/// Bytes of a file; nil when there is none.
package func fileSize(_ path: String) -> Int64? { fileAttributes(path)?.size }
