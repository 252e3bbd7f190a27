import BookModel
import Foundation

/// Writes a file under another name, then lets it take the place of the one at the path: who reads that sees the old bytes
/// or the new ones, whole, also after a power cut. On disk when the call returns, as far as the filesystem syncs folders.
///
/// Blocks on the disk.
/// - Parameters:
///   - path: absolute; a symbolic link there is replaced, and not followed.
///   - mode: the file has it from its first byte on.
///   - model: whose owner and mode the file gets in the end; nil where it keeps its own.
///   - replaces: whether a file that is there gives way. Else `EEXIST` is thrown where there is one.
///   - verify: runs before the file takes its place, which it does not where this throws; is told where the file is until then.
package func replaceFile(
    at path: String, with bytes: [UInt8], mode: mode_t = 0o600, like model: stat? = nil, replaces: Bool = true,
    verify: (String) throws(SystemError) -> Void = { _ in }
) throws(SystemError) {
    let temporary = "\(path).new-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    try createFile(at: temporary, with: bytes, mode: mode, like: model)
    do throws(SystemError) {
        try verify(temporary)
        try systemCall { replaces ? rename(temporary, path) : link(temporary, path) }
    } catch {
        unlink(temporary)
        throw error
    }
    if !replaces { unlink(temporary) }
    let folder = open(
        URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
}

/// Writes a new file. On disk when the call returns; not there at all when it throws. What was there is deleted.
/// - Parameters:
///   - mode: it has it from its first byte on.
///   - model: whose owner and mode it gets in the end; nil where it keeps its own.
package func createFile(
    at path: String, with bytes: [UInt8], mode: mode_t, like model: stat? = nil
) throws(SystemError) {
    unlink(path)
    let descriptor = try systemCall { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode) }
    defer { close(descriptor) }
    do throws(SystemError) {
        if let model {
            if model.st_uid != geteuid() || model.st_gid != getegid() {
                try systemCall { fchown(descriptor, model.st_uid, model.st_gid) }
            }
            try systemCall { fchmod(descriptor, model.st_mode & 0o7777) }
        }
        try writeAll(bytes, to: descriptor)
        try systemCall { fsync(descriptor) }
    } catch {
        unlink(path)
        throw error
    }
}
