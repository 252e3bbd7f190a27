import BookModel
import Foundation

/// The number a system call failed with, and what the system says of it.
package struct SystemError: Error, Sendable, Hashable {
    package let code: Int32

    package init(code: Int32) {
        self.code = code
    }

    /// Of the call just made.
    package static var last: SystemError { SystemError(code: errno) }

    package var message: Message { Message(errno: code) }
}

extension SystemError: CustomNSError {
    package static var errorDomain: String { NSPOSIXErrorDomain }
    package var errorCode: Int { Int(code) }
}

/// Repeats a system call that a signal interrupted.
/// - Returns: what the call does; when that is negative, `errno` tells why.
@discardableResult
package func uninterrupted<T: SignedInteger>(_ call: () -> T) -> T {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}

/// Repeats a system call that a signal interrupted.
/// - Throws: ``SystemError`` when it fails.
@discardableResult
package func systemCall<T: SignedInteger>(_ call: () -> T) throws(SystemError) -> T {
    let result = uninterrupted(call)
    if result < 0 { throw SystemError.last }
    return result
}

/// The same, for the user to read.
/// - Parameter what: what failed: "Audiobooks/x.mp3 cannot be synced".
/// - Throws: ``Failure`` when it fails.
@discardableResult
package func systemCall<T: SignedInteger>(
    _ what: @autoclosure () -> Message, _ call: () -> T
) throws(Failure) -> T {
    let result = uninterrupted(call)
    if result < 0 { throw Failure.file(what(), errno: errno) }
    return result
}

/// Deletes a file; that it is gone already is no error.
package func deleteFile(_ path: String) throws {
    guard unlink(path) == 0 || errno == ENOENT else { throw Failure.file("\(path) cannot be deleted", errno: errno) }
}

/// Fills a buffer with the bytes of a file from an offset on, however many calls that takes.
/// - Returns: the bytes read; fewer than the buffer has only where the file ends.
/// - Throws: ``SystemError`` when a call fails.
package func readAll(
    _ buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int64
) throws(SystemError) -> Int {
    var done = 0
    while done < buffer.count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
        let count = try systemCall { pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done)) }
        if count == 0 { break }
        done += count
    }
    return done
}

/// Writes all bytes, however many calls that takes.
/// - Parameters:
///   - place: of the first byte in the file; nil for where its descriptor stands.
///   - onWrite: is told the bytes of each call.
/// - Throws: ``SystemError`` when one fails, or takes nothing.
package func writeAll(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at place: Int64? = nil, onWrite: (Int) -> Void = { _ in }
) throws(SystemError) {
    var (rest, place) = (bytes, place)
    while !rest.isEmpty {
        let count = try systemCall {
            if let place {
                pwrite(descriptor, rest.baseAddress, rest.count, off_t(place))
            } else {
                write(descriptor, rest.baseAddress, rest.count)
            }
        }
        guard count > 0 else { throw SystemError(code: EIO) }
        onWrite(count)
        place? += Int64(count)
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
}

/// The same, for the user to read.
/// - Parameter what: what failed.
package func writeAll(
    _ bytes: UnsafeRawBufferPointer, to descriptor: CInt, at place: Int64? = nil, _ what: @autoclosure () -> Message,
    onWrite: (Int) -> Void = { _ in }
) throws(Failure) {
    do { try writeAll(bytes, to: descriptor, at: place, onWrite: onWrite) } catch {
        throw Failure.file(what(), errno: error.code)
    }
}

package func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
    let bytes = bytes.span.bytes
    try bytes.withUnsafeBytes { buffer throws(SystemError) in try writeAll(buffer, to: descriptor) }
}
