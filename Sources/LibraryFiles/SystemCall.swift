import Foundation

/// The number a system call failed with, and what the system says of it.
package struct SystemError: Error, Sendable, Hashable {
    package let code: Int32

    package init(code: Int32) {
        self.code = code
    }

    /// Of the call just made.
    package static var last: SystemError { SystemError(code: errno) }

    package var text: String { String(cString: strerror(code)) }
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

/// Writes all bytes, however many calls that takes.
/// - Throws: ``SystemError`` when one fails, or takes nothing.
package func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = try systemCall { rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) } }
        guard count > 0 else { throw SystemError(code: EIO) }
        rest = rest.dropFirst(count)
    }
}
