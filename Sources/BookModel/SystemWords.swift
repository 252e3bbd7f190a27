import Foundation

extension Message {
    /// What the system says of the number that a call failed with; the common ones can be said in other languages.
    package init(errno code: Int32) {
        self =
            switch code {
            case EPERM: "Operation not permitted"
            case ENOENT: "No such file or directory"
            case EIO: "Input/output error"
            case EBADF: "Bad file descriptor"
            case EAGAIN: "Resource temporarily unavailable"
            case ENOMEM: "Cannot allocate memory"
            case EACCES: "Permission denied"
            case EBUSY: "Device or resource busy"
            case EEXIST: "File exists"
            case EXDEV: "Invalid cross-device link"
            case ENODEV: "No such device"
            case ENOTDIR: "Not a directory"
            case EISDIR: "Is a directory"
            case EINVAL: "Invalid argument"
            case ENFILE: "Too many open files in system"
            case EMFILE: "Too many open files"
            case EFBIG: "File too large"
            case ENOSPC: "No space left on device"
            case EROFS: "Read-only file system"
            case EMLINK: "Too many links"
            case EPIPE: "Broken pipe"
            case ENAMETOOLONG: "File name too long"
            case ENOLCK: "No locks available"
            case ENOSYS: "Function not implemented"
            case ENOTEMPTY: "Directory not empty"
            case ELOOP: "Too many levels of symbolic links"
            case EOPNOTSUPP: "Operation not supported"
            case EADDRINUSE: "Address already in use"
            case EADDRNOTAVAIL: "Cannot assign requested address"
            case ENOTCONN: "Transport endpoint is not connected"
            case ETIMEDOUT: "Connection timed out"
            case EHOSTDOWN: "Host is down"
            case ESTALE: "Stale file handle"
            case EDQUOT: "Disk quota exceeded"
            default: Message(verbatim: String(cString: strerror(code)))
            }
    }

    /// What an error says: a failure its sentence, one of the system what the system says of its number.
    package init(cause error: any Error) {
        if let failure = error as? Failure {
            self = failure.message
            return
        }
        let bridged = error as NSError
        let cause = bridged.userInfo[NSUnderlyingErrorKey] as? NSError ?? bridged
        let code = cause.domain == NSPOSIXErrorDomain ? Int32(cause.code) : (error as? CocoaError).flatMap(Self.number)
        if let code {
            self.init(errno: code)
        } else {
            self.init(verbatim: error is CocoaError ? error.localizedDescription : "\(error)")
        }
    }

    /// The system's number for an error of Foundation, which does not always keep it.
    private static func number(of error: CocoaError) -> Int32? {
        switch error.code {
        case .fileNoSuchFile, .fileReadNoSuchFile: ENOENT
        case .fileReadNoPermission, .fileWriteNoPermission: EACCES
        case .fileWriteFileExists: EEXIST
        case .fileWriteOutOfSpace: ENOSPC
        case .fileWriteVolumeReadOnly: EROFS
        default: nil
        }
    }
}
