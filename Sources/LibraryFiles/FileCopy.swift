import BookModel
import Foundation

/// A copy of the file, on disk when the call returns.
/// - Returns: what the file that was read looked like when all of it was read.
@discardableResult
package func copyFile(_ source: String, to path: String, size: Int64) throws -> FileAttributes {
    let input = try opened(source, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    defer { close(input) }
    unlink(path)
    let output = try opened(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW)
    defer { close(output) }
    guard try copyBytes(from: input, at: source, to: output, at: path) == size else {
        throw Failure(
            .temporary, what: "\(source) is not copied", why: "it changed meanwhile",
            remedy: "run again when nothing writes to it")
    }
    try systemCall("\(path) cannot be synced") { fsync(output) }
    return try fileAttributes(of: input, at: source)
}

/// Copies the bytes of an open file from where it stands to its end.
/// - Returns: how many there were.
@discardableResult
package func copyBytes(from input: CInt, at source: String, to output: CInt, at path: String) throws -> Int64 {
    var copied: Int64 = 0
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { chunk.deallocate() }
    while true {
        let count = try systemCall("\(source) cannot be read") { read(input, chunk.baseAddress, chunk.count) }
        if count == 0 { return copied }
        try writeAll(UnsafeRawBufferPointer(rebasing: chunk[..<count]), to: output, "\(path) cannot be written")
        copied += Int64(count)
    }
}

/// Gives the file at the path to nobody else: it becomes a copy with the same bytes, which a process that has opened it before does
/// not write to. On disk when the call returns; nothing where there is none.
/// - Throws: ``Failure`` of kind `temporary` when it is being written to.
package func renewFile(_ path: String) throws {
    let copy = path + ".renewed"
    let original = uninterrupted { open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
    guard original >= 0 else {
        if errno == ENOENT { return }
        throw Failure.file("\(path) cannot be opened", errno: errno)
    }
    defer { close(original) }
    var status = stat()
    try systemCall("\(path) cannot be looked at") { fstat(original, &status) }
    // What it says of its bytes counts for the copy only where nobody wrote meanwhile.
    let note = FileNote(of: original)
    try copyFile(path, to: copy, size: Int64(status.st_size))
    let descriptor = try opened(copy, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
    defer { close(descriptor) }
    try systemCall("\(copy) cannot be written") { fchmod(descriptor, status.st_mode & 0o7777) }
    if FileNote(of: original) == note { note?.write(to: descriptor) }
    try systemCall("\(copy) cannot be synced") { fsync(descriptor) }
    try systemCall("\(path) cannot be renewed") { rename(copy, path) }
}

package func opened(_ path: String, _ flags: Int32) throws -> Int32 {
    try systemCall("\(path) cannot be opened") { open(path, flags, 0o666) }
}
