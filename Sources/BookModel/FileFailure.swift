import Foundation

extension Failure {
    /// Whether more room on the disk would have helped.
    package var isLackOfRoom: Bool { reason == .lackOfRoom }

    /// What there is would fit, and leave less of the disk free than it has to. Ends the run.
    ///
    /// - Parameters:
    ///   - why: the numbers.
    ///   - minFreeSpace: bytes that the settings keep free.
    package static func lackOfRoom(_ what: Message, why: Message, leaving minFreeSpace: Int64) -> Failure {
        Failure(
            .inputOutput, disposition: .stop, what: what, why: "too little would stay free: \(why)",
            remedy: roomRemedy(leaving: minFreeSpace), reason: .lackOfRoom)
    }

    /// What to do where room is missing.
    ///
    /// - Parameter minFreeSpace: bytes that the settings keep free; where it is 0, they cannot keep fewer.
    package static func roomRemedy(leaving minFreeSpace: Int64) -> Message {
        minFreeSpace > 0
            ? "make room, or lower downloads.min-free-space, and run again" : "make room and run again"
    }

    /// A failed system call on a file, told to the user. A full disk or a vanished library ends the run, since
    /// whatever comes next would fail as well.
    ///
    /// - Parameters:
    ///   - what: the thing that failed: "Audiobooks/x.mp3 cannot be written".
    ///   - code: `errno` right after the call.
    package static func file(_ what: Message, errno code: Int32) -> Failure {
        switch code {
        case ENOSPC, EDQUOT:
            Failure(
                .inputOutput, disposition: .stop, what: what,
                why: code == ENOSPC ? "the disk is full" : "the disk quota is used up",
                remedy: "make room and run again; everything received so far is kept", reason: .lackOfRoom)
        case EACCES, EPERM, EROFS:
            Failure(
                .libraryUnwritable, disposition: .stop, what: what,
                why: Message(errno: code),
                remedy: "check the owner and the permissions of the library")
        case EMFILE, ENFILE:
            Failure(
                .inputOutput, disposition: .stop, what: what, why: Message(errno: code),
                remedy: "run again")
        default:
            Failure(
                .inputOutput, disposition: .stop, what: what, why: Message(errno: code),
                remedy: "check the disk and run again; everything received so far is kept")
        }
    }
}
