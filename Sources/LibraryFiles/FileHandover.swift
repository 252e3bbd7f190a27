import BookModel
import Foundation

/// Puts a file of one library into another under the same path, beside the one that is there: as a second name of the same
/// file where both are on one filesystem that has such names, else as a copy that was read again and found equal. On disk when
/// the call returns, but for the names in its folder. Blocks on the disk.
///
/// - Parameters:
///   - path: relative to either library.
///   - replaces: whether a file that stands there gives way.
/// - Returns: what the file looks like there.
/// - Throws: ``Failure`` of kind `temporary` where another file stands there, or the file changes meanwhile.
package func handOver(
    _ path: String, from library: String, to other: String, replaces: Bool = false
) throws -> FileAttributes {
    let (source, target) = ("\(library)/\(path)", "\(other)/\(path)")
    let (folder, name) = splitLibraryPath(path)
    let directory = try LibraryDirectory(folder, in: other)
    if replaces { try directory.delete(name) }
    if link(source, target) == 0 { return try directory.facts(of: name) }
    let code = errno
    if code == EEXIST, let one = fileAttributes(source), one.inode == fileAttributes(target)?.inode {
        return try directory.facts(of: name)
    }
    // Filesystems without such names, or with a limit to them, and other disks.
    guard [EXDEV, EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK, EACCES].contains(code) else {
        if code != EEXIST { throw Failure.file("\(target) cannot be made", errno: code) }
        throw Failure(
            .temporary, what: "\(path) is not handed over", why: "a file stands at \(target)",
            remedy: "move it away and run again")
    }
    let copy = try LibraryFolder.newWorkFile(in: other)
    defer { unlink(copy) }
    try copyWhole(source, to: copy)
    try directory.receive(copy, as: name, replaces: false)
    return try directory.facts(of: name)
}

/// Copies bytes, times, rights and what the file says of itself, and reads both again.
func copyWhole(_ source: String, to copy: String) throws {
    var status = stat()
    try systemCall("\(source) cannot be looked at") { lstat(source, &status) }
    try copyFile(source, to: copy, size: Int64(status.st_size))
    let (input, output) = (
        try opened(source, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), try opened(copy, O_RDWR | O_CLOEXEC)
    )
    defer { for file in [input, output] { close(file) } }
    FileMark(of: input)?.write(to: output)
    #if canImport(Darwin)
        var times = [status.st_atimespec, status.st_mtimespec]
    #else
        var times = [status.st_atim, status.st_mtim]
    #endif
    try systemCall("\(copy) cannot be dated") { fchmod(output, status.st_mode & 0o7777) }
    try systemCall("\(copy) cannot be dated") { futimens(output, &times) }
    try systemCall("\(copy) cannot be synced") { fsync(output) }
    let reader = FileReader()
    guard case .file(let one)? = reader.look(at: source),
        case .file(let other)? = reader.look(at: copy),
        let digest = one.sha256, digest == other.sha256, one.facts == FileAttributes(status)
    else {
        throw Failure(
            .temporary, what: "\(source) is not handed over", why: "its copy is not what it is now",
            remedy: "run again when nothing writes to it")
    }
}
