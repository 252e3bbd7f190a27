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
