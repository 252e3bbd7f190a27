import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The number a system call failed with, and what the system says of it.
struct SystemError: Error, Sendable, Equatable {
    let code: Int32

    /// Of the call just made.
    static var last: SystemError { SystemError(code: errno) }

    var text: String { String(cString: strerror(code)) }
}

/// Repeats a system call that a signal interrupted.
/// - Throws: ``SystemError`` when it fails.
@discardableResult
func systemCall<T: SignedInteger>(_ call: () -> T) throws(SystemError) -> T {
    while true {
        let result = call()
        if result >= 0 { return result }
        let error = SystemError.last
        if error.code != EINTR { throw error }
    }
}

/// Writes all bytes, however many calls that takes.
/// - Throws: ``SystemError`` when one fails, or takes nothing.
func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = try systemCall { rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) } }
        guard count > 0 else { throw SystemError(code: EIO) }
        rest = rest.dropFirst(count)
    }
}
