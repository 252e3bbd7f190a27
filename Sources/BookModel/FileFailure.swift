import Foundation

extension Failure {
    private static let diskIsFull = "the disk is full"
    private static let quotaIsUsedUp = "the disk quota is used up"

    private static let mustStayFree = "too little would stay free"

    /// Whether more room on the disk would have helped.
    package var isLackOfRoom: Bool {
        why == Self.diskIsFull || why == Self.quotaIsUsedUp || why.hasPrefix(Self.mustStayFree)
    }

    /// What there is would fit, and leave less of the disk free than it has to. Ends the run.
    ///
    /// - Parameter why: the numbers.
    package static func lackOfRoom(_ what: String, why: String, remedy: String) -> Failure {
        Failure(
            .inputOutput, disposition: .stop, what: what, why: "\(mustStayFree): \(why)", remedy: remedy)
    }

    /// A failed system call on a file, told to the listener. A full disk or a vanished library ends the run, since
    /// whatever comes next would fail as well.
    ///
    /// - Parameters:
    ///   - what: the thing that failed: "Audiobooks/x.mp3 cannot be written".
    ///   - code: `errno` right after the call.
    package static func file(_ what: String, errno code: Int32) -> Failure {
        switch code {
        case ENOSPC, EDQUOT:
            Failure(
                .inputOutput, disposition: .stop, what: what,
                why: code == ENOSPC ? diskIsFull : quotaIsUsedUp,
                remedy: "make room and run again; everything received so far is kept")
        case EACCES, EPERM, EROFS:
            Failure(
                .libraryUnwritable, disposition: .stop, what: what, why: String(cString: strerror(code)),
                remedy: "check the owner and the permissions of the library")
        default:
            Failure(
                .inputOutput, disposition: .stop, what: what, why: String(cString: strerror(code)),
                remedy: "check the disk and run again; everything received so far is kept")
        }
    }
}
