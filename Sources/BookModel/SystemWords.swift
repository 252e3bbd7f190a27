import Foundation

extension Message {
    /// What the system says of the number that a call failed with; the common ones can be said in other languages.
    package init(errno code: Int32) {
        // It has a remedy that no place needs to know of.
        self =
            code == EMFILE
            ? "too many open files (ulimit -n raises the limit)" : Message(wording: String(cString: strerror(code)))
    }

    /// The cause of an error in words: of one of booksync's its sentence, of a system error what the system says of its number. A
    /// library's own text is in one language, and for programmers: of such an error only the type and the number are named.
    package init(cause error: any Error) {
        if let explained = error as? any ExplainedError {
            self = explained.message
            return
        }
        let bridged = error as NSError
        let cause = bridged.userInfo[NSUnderlyingErrorKey] as? NSError ?? bridged
        let code = cause.domain == NSPOSIXErrorDomain ? Int32(cause.code) : (error as? CocoaError).flatMap(Self.number)
        self = code.map { Message(errno: $0) } ?? "unexpected error (\(cause.domain) \(cause.code))"
    }

    /// The system's number for an error of Foundation, which does not always keep it.
    private static func number(of error: CocoaError) -> Int32? {
        switch error.code {
        case .fileNoSuchFile, .fileReadNoSuchFile: ENOENT
        case .fileReadNoPermission, .fileWriteNoPermission: EACCES
        case .fileWriteFileExists: EEXIST
        case .fileWriteOutOfSpace: ENOSPC
        case .fileWriteVolumeReadOnly: EROFS
        case .fileReadInvalidFileName, .fileWriteInvalidFileName: EINVAL
        default: descriptorShortage()
        }
    }
}

/// An error that has words for the user.
package protocol ExplainedError: Error {
    var message: Message { get }
}

/// The number that opening a file fails with while too many are open; nil while one can be opened.
package func descriptorShortage() -> Int32? {
    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard descriptor < 0 else {
        close(descriptor)
        return nil
    }
    return [EMFILE, ENFILE].contains(errno) ? errno : nil
}
