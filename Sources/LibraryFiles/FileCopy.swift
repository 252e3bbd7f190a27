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
        let count = uninterrupted { read(input, chunk.baseAddress, chunk.count) }
        guard count >= 0 else { throw Failure.file("\(source) cannot be read", errno: errno) }
        if count == 0 { break }
        var rest = UnsafeRawBufferPointer(rebasing: chunk[..<count])[...]
        while !rest.isEmpty {
            let written = uninterrupted {
                write(output, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            }
            guard written > 0 else { throw Failure.file("\(path) cannot be written", errno: errno) }
            rest = rest.dropFirst(written)
        }
        copied += Int64(count)
    }
    guard copied == size else {
        throw Failure(
            .temporary, what: "\(source) is not copied", why: "it changed meanwhile",
            remedy: "run again when nothing writes to it")
    }
    guard uninterrupted({ fsync(output) }) == 0 else { throw Failure.file("\(path) cannot be synced", errno: errno) }
}

package func opened(_ path: String, _ flags: Int32) throws -> Int32 {
    let descriptor = uninterrupted { open(path, flags, 0o644) }
    guard descriptor >= 0 else { throw Failure.file("\(path) cannot be opened", errno: errno) }
    return descriptor
}
