import BookModel
import Foundation

/// Reads a file with secrets. Blocks on the disk.
/// - Parameters:
///   - path: absolute; a symbolic link there is not followed.
///   - maxSize: in bytes.
/// - Returns: nil where there is no file.
/// - Throws: ``SystemError``; `EFBIG` beyond the size, `EINVAL` for what is not a regular file, and `EIO` for one that is cut
///   meanwhile.
package func readPrivateFile(at path: String, maxSize: Int) throws(SystemError) -> [UInt8]? {
    let descriptor = uninterrupted { open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
    if descriptor < 0, errno == ENOENT { return nil }
    guard descriptor >= 0 else { throw SystemError.last }
    defer { close(descriptor) }
    var status = stat()
    try systemCall { fstat(descriptor, &status) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError(code: EINVAL) }
    guard status.st_size < maxSize else { throw SystemError(code: EFBIG) }
    // A copied library may have lost the mode.
    if status.st_mode & 0o077 != 0, status.st_nlink == 1 { fchmod(descriptor, 0o600) }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = try systemCall { pread(descriptor, &bytes, bytes.count, 0) }
    // A part would be taken for the whole.
    guard count == bytes.count else { throw SystemError(code: EIO) }
    return bytes
}
