import Foundation

/// Flips a bit of a file in place.
/// - Parameter isSeen: whether the time of modification tells of it; a disk that rots does not write one.
package func flipBit(of path: String, at offset: Int, isSeen: Bool = false) throws {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw SpoilingFailed(path: path, code: errno) }
    defer { close(descriptor) }
    var status = stat()
    var byte: UInt8 = 0
    guard fstat(descriptor, &status) == 0, pread(descriptor, &byte, 1, off_t(offset)) == 1 else {
        throw SpoilingFailed(path: path, code: errno)
    }
    byte ^= 0x10
    guard pwrite(descriptor, &byte, 1, off_t(offset)) == 1 else { throw SpoilingFailed(path: path, code: errno) }
    #if os(Linux)
        var times = [status.st_atim, status.st_mtim]
    #else
        var times = [status.st_atimespec, status.st_mtimespec]
    #endif
    // A filesystem that counts coarsely might give the same time by chance.
    if isSeen { times[1].tv_sec += 1 }
    guard futimens(descriptor, &times) == 0 else { throw SpoilingFailed(path: path, code: errno) }
}

package struct SpoilingFailed: Error, CustomStringConvertible {
    let path: String
    let code: Int32
    package var description: String { "\(path) cannot be spoilt: \(String(cString: strerror(code)))" }
}
