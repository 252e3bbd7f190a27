import BookModel
import Testing

@testable import SyncPlanner

/// Files that a run put in their place before it was killed, and that it could not record.
@Suite struct InterruptedPublicationTests {
    private static let wanted = "Book/7.mp3"
    private static let placed = Situation().standing(at: wanted, facts(inode: 99))
    private static let found = "a run that was cut off had put it in its place already"
    private static let foreign = "a file that booksync did not fetch stands at Book/7.mp3; it is left alone"

    static let table: [(Situation, String, String)] = [
        (placed.transfer(.verifying, total: 1000, path: wanted), "adopt 7 Book/7.mp3", found),
        (placed.transfer(.verifying, path: wanted), "adopt 7 Book/7.mp3", found),
        // Publishing begins when the bytes were verified, and renames the partial file.
        (placed.transfer(.downloading, total: 1000, path: wanted), "skip obstructed 7 Book/7.mp3", foreign),
        // Its announcement was withdrawn.
        (placed.transfer(.waiting, total: 1000), "skip obstructed 7 Book/7.mp3", foreign),
        (placed.transfer(.verifying, total: 1000, path: wanted).partial(1000), "skip obstructed 7 Book/7.mp3", foreign),
        (placed.transfer(.verifying, total: 1001, path: wanted), "skip obstructed 7 Book/7.mp3", foreign),
        (placed.transfer(.verifying, total: 1000), "skip obstructed 7 Book/7.mp3", foreign),
        (
            Situation().transfer(.verifying, path: wanted).standing(at: wanted, facts(kind: .folder)),
            "skip obstructed 7 Book/7.mp3", "a folder stands at Book/7.mp3; it is left alone"
        ),
        // The old file is not the new one.
        (Situation().fetched().transfer(.verifying, total: 1000, path: wanted), "keep 7 Book/7.mp3", "on disk"),
    ]

    @Test(arguments: table)
    func `a file was published when its transfer was verifying, its partial file is gone and its size fits`(
        _ situation: Situation, _ outline: String, _ reason: String
    ) throws {
        let plan = makePlan(for: try input([situation]))
        #expect(plan.outline == [outline])
        #expect(plan.actions.first?.reason.description == reason)
    }
}
