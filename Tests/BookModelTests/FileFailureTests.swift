import BookModel
import Foundation
import Testing

/// Cases 36 and 37 of the download cases: what a failed system call on a file means.
@Suite struct FileFailureTests {
    @Test(arguments: [
        (ENOSPC, Failure.Kind.inputOutput, "the disk is full", true),
        (EDQUOT, .inputOutput, "the disk quota is used up", true),
        (EROFS, .libraryUnwritable, "Read-only file system", false),
        (EACCES, .libraryUnwritable, "Permission denied", false),
        (EPERM, .libraryUnwritable, "Operation not permitted", false),
        (EIO, .inputOutput, "Input/output error", false),
        (EMFILE, .inputOutput, "too many open files (ulimit -n raises the limit)", false),
        (ENOENT, .inputOutput, "No such file or directory", false),
    ])
    func `a failed system call ends the run and says what to do`(
        code: Int32, kind: Failure.Kind, why: String, isLackOfRoom: Bool
    ) {
        let failure = Failure.file("x.mp3 cannot be written", errno: code)
        #expect(failure.kind == kind)
        #expect(failure.disposition == .stop)
        #expect(failure.why.description == why)
        #expect(failure.isLackOfRoom == isLackOfRoom)
        #expect(failure.remedy != nil)
    }

    @Test(arguments: [0, 1] as [Int64])
    func `too little room left is a lack of room with its numbers, and what is kept free is lowered where it can be`(
        minFreeSpace: Int64
    ) {
        let failure = Failure.lackOfRoom("no room", why: "1 B is free", leaving: minFreeSpace)
        #expect(failure.remedy?.description.contains("lower downloads.min-free-space") == (minFreeSpace > 0))
        #expect(failure.isLackOfRoom)
        #expect(failure.kind == .inputOutput && failure.disposition == .stop)
        #expect(failure.description.contains("1 B is free"))
    }
}
