import BookModel
import Foundation
import Testing

@testable import SyncPlanner

/// Files that were read and found bad.
@Suite struct RepairDecisionTests {
    static let damage = "bit rot: other bytes"

    static let table: [(Situation, String, String)] = [
        (Situation().fetched(), "replace 7 Book/7.mp3", "\(damage); fetched again"),
        (
            Situation().fetched().standing(at: "Book/7.mp3", facts(size: 10)), "replace 7 Book/7.mp3",
            "\(damage); fetched again"
        ),
        (
            Situation().fetched().standing(at: "Book/7.mp3", nil), "fetch 7 Book/7.mp3",
            "deleted from disk since it was fetched"
        ),
        (
            Situation().fetched().transfer(.failed, attempts: 3, next: noon + 60), "replace 7 Book/7.mp3",
            "\(damage); fetched again"
        ),
        (Situation().fetched().transfer(.paused), "skip paused 7 Book/7.mp3", "\(damage), but paused"),
        (Situation().fetched().locked(), "keep 7 Book/7.mp3", "\(damage), but the catalog gives no address"),
        (
            Situation().fetched().gone(), "keep 7 Book/7.mp3",
            "\(damage); no longer in the catalog, so its file is kept as it is"
        ),
        (
            Situation().fetched().standing(at: "Book/7.mp3", facts(kind: .folder)), "skip obstructed 7 Book/7.mp3",
            "a folder stands at Book/7.mp3 in its place; it is left alone"
        ),
    ]

    @Test(arguments: table)
    func `a file that was found bad is fetched again where that can be`(
        _ situation: Situation, _ outline: String, _ reason: String
    ) throws {
        var input = try input([situation])
        input.damaged = ["id7": Self.damage]
        let plan = makePlan(for: input)
        #expect(plan.outline == [outline])
        #expect(plan.actions.first?.reason.description == reason)
        // Asked whether it changed, the server would say no.
        #expect(plan.actions.first?.replacing == nil)
    }
}
