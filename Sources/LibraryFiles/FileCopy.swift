import BookModel
import Foundation

/// A copy of the file, with its times, on disk when the call returns.
package func copyFile(_ source: String, to path: String, size: Int64) throws {
    let input = try opened(source, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    defer { close(input) }
    unlink(path)
    let output = try opened(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW)
    defer { close(output) }
    var copied: Int64 = 0
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { chunk.deallocate() }
    while true {
        let count = try systemCall("\(source) cannot be read") { read(input, chunk.baseAddress, chunk.count) }
        if count == 0 { break }
        do {
            try writeAll(UnsafeRawBufferPointer(rebasing: chunk[..<count]), to: output)
        } catch {
            throw Failure.file("\(path) cannot be written", errno: error.code)
        }
        copied += Int64(count)
    }
    guard copied == size else {
        throw Failure(
            .temporary, what: "\(source) is not copied", why: "it changed meanwhile",
            remedy: "run again when nothing writes to it")
    }
    try systemCall("\(path) cannot be synced") { fsync(output) }
}

package func opened(_ path: String, _ flags: Int32) throws -> Int32 {
    try systemCall("\(path) cannot be opened") { open(path, flags, 0o644) }
}
