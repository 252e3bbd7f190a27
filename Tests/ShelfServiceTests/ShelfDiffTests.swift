import BookModel
import Testing

@testable import CatalogStore
@testable import ShelfService

@Suite struct ShelfDiffTests {
    private typealias Transfer = ActivitySnapshot.Transfer

    struct Step: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var before: TransferState?
        var after: TransferState?
        var bytes: [Int64] = [0, 0]
        var attempts = [0, 0]
        var hasFile = false
        var isRunUnderWay = true
        var expected: ShelfDiff.Turn?

        init(
            _ what: String, _ before: TransferState?, _ after: TransferState?, _ expected: ShelfDiff.Turn?,
            bytes: [Int64] = [0, 0], attempts: [Int] = [0, 0], hasFile: Bool = false, isRunUnderWay: Bool = true
        ) {
            (testDescription, self.before, self.after, self.expected) = (what, before, after, expected)
            (self.bytes, self.attempts, self.hasFile, self.isRunUnderWay) = (bytes, attempts, hasFile, isRunUnderWay)
        }
    }

    static let steps = [
        Step("nothing happens", .downloading, .downloading, nil, bytes: [5, 5]),
        Step("one begins", nil, .downloading, .started),
        Step("bytes come", .downloading, .downloading, .progressed, bytes: [5, 6]),
        Step("the bytes are checked", .downloading, .verifying, .progressed),
        Step("one ends", .downloading, nil, .changed, hasFile: true),
        Step("one comes and goes between two looks", nil, nil, .changed, hasFile: true),
        Step("one is paused", .downloading, .paused, .changed),
        Step("one is paused before it began", nil, .paused, .changed),
        Step("one that was paused goes on", .paused, .downloading, .started),
        Step("one that was paused waits", .paused, nil, .changed),
        Step("one fails", .downloading, .failed, .changed),
        Step("one fails again", .failed, .failed, .changed, attempts: [1, 2]),
        Step("one stays failed", .failed, .failed, nil, attempts: [1, 1]),
        Step("one is broken off", .downloading, .cancelled, .changed),
        Step("the run is killed", .downloading, .downloading, .changed, isRunUnderWay: false),
        Step("what is paused stays so when the run is killed", .paused, .paused, nil, isRunUnderWay: false),
    ]

    @Test(arguments: steps)
    func `two looks tell what happened between them`(_ step: Step) {
        let begin = ContinuousClock.now
        func look(_ state: TransferState?, _ attempts: Int, hasFile: Bool) -> ActivitySnapshot {
            ActivitySnapshot(
                transfers: state.map { [7: Transfer(state: $0, total: 100, attempts: attempts)] } ?? [:],
                files: hasFile ? [7: 20_000] : [:], lastFile: hasFile ? 20_000 : 10_000)
        }
        var board = ShelfDiff()
        #expect(board.filesSince == nil)
        let first = board.take(
            look(step.before, step.attempts[0], hasFile: false), bytes: [7: step.bytes[0]], isRunUnderWay: true,
            at: begin)
        #expect(first.isEmpty)
        let turns = board.take(
            look(step.after, step.attempts[1], hasFile: step.hasFile), bytes: [7: step.bytes[1]],
            isRunUnderWay: step.isRunUnderWay, at: begin + .milliseconds(250))
        #expect(turns.map(\.turn) == [step.expected].compactMap(\.self))
        #expect(turns.allSatisfy { $0.row == 7 })
        let again = board.take(
            look(step.after, step.attempts[1], hasFile: step.hasFile), bytes: [7: step.bytes[1]],
            isRunUnderWay: step.isRunUnderWay, at: begin + .milliseconds(500))
        #expect(again.isEmpty, "and tell it once")
    }

    @Test func `a new version of a file is told of, and what was there before is not`() {
        let now = ContinuousClock.now
        var board = ShelfDiff()
        _ = board.take(ActivitySnapshot(lastFile: 50_000), bytes: [:], isRunUnderWay: false, at: now)
        // Within the slack, and told of before.
        let known = ActivitySnapshot(files: [1: 45_000, 2: 50_000], lastFile: 50_000)
        _ = board.take(known, bytes: [:], isRunUnderWay: false, at: now)
        var later = known
        later.files[1] = 51_000
        later.lastFile = 51_000
        let turns = board.take(later, bytes: [:], isRunUnderWay: false, at: now)
        #expect(turns.map(\.row) == [1])
        #expect(board.filesSince == 41_000)
    }

    @Test func `a store that was not there before is told of whole`() {
        var board = ShelfDiff(isNew: true)
        let look = ActivitySnapshot(
            transfers: [3: Transfer(state: .downloading)], files: [1: 5], lastFile: 5)
        let turns = board.take(look, bytes: [:], isRunUnderWay: true, at: .now)
        #expect(turns.map(\.row) == [1, 3])
        #expect(turns.map(\.turn) == [.changed, .started])
    }

    @Test func `the speed is that of the last seconds, over all transfers`() {
        let begin = ContinuousClock.now
        var board = ShelfDiff()
        let look = ActivitySnapshot(transfers: [1: Transfer(state: .downloading), 2: Transfer(state: .downloading)])
        for second in 0...4 {
            let bytes = Int64(second) * 1000
            _ = board.take(
                look, bytes: [1: bytes, 2: bytes * 2], isRunUnderWay: true, at: begin + .seconds(second))
        }
        let now = begin + .seconds(4)
        #expect(board.moving[1]?.bytesPerSecond(at: now) == 1000)
        #expect(board.bytesPerSecond(at: now) == 3000)
        #expect(board.needsLook)
    }
}
