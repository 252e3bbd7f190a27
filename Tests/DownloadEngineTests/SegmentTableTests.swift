import Support
import Testing

@testable import DownloadEngine

@Suite struct SegmentTableTests {
    @Test func `pieces cover the file on a grid, the last one being shorter`() {
        let table = SegmentTable(total: 250, length: 100)
        #expect((0..<3).map(table.range(of:)) == [0..<100, 100..<200, 200..<250])
    }

    @Test func `alone, the front asks for several pieces at a time`() {
        var table = SegmentTable(total: 1000, length: 100)
        #expect(table.nextStep(ofFrontAt: 0, reach: 4) == .fetch(end: 400))
        #expect(table.nextStep(ofFrontAt: 400, reach: 4) == .fetch(end: 800))
        #expect(table.nextStep(ofFrontAt: 800, reach: 4) == .fetch(end: 1000))
        #expect(table.claim() == nil)
    }

    @Test func `the front begins where the partial file ends`() {
        var table = SegmentTable(total: 1000, length: 100)
        #expect(table.nextStep(ofFrontAt: 250, reach: 1) == .fetch(end: 300))
        #expect(table.claim() == 3)
    }

    @Test func `helpers take what the front has not asked for, and it takes over what they brought`() {
        var table = SegmentTable(total: 400, length: 100)
        #expect(table.nextStep(ofFrontAt: 0, reach: 1) == .fetch(end: 100))
        #expect(table.claim() == 1)
        #expect(table.claim() == 2)
        table.grow(1, by: 100)
        table.release(1)
        #expect(table.bytesOnDisk == 100)
        #expect(table.nextStep(ofFrontAt: 100, reach: 4) == .takeOver(piece: 1, end: 200))
        table.takenOver(1)
        #expect(table.bytesOnDisk == 0)
        // The third piece is on its way: the front brings the fourth meanwhile, then waits.
        #expect(table.nextStep(ofFrontAt: 200, reach: 4) == .help(piece: 3))
        #expect(table.nextStep(ofFrontAt: 200, reach: 4) == .wait(piece: 2))
        table.grow(2, by: 100)
        table.release(2)
        table.grow(3, by: 100)
        table.release(3)
        #expect(table.nextStep(ofFrontAt: 200, reach: 4) == .takeOver(piece: 2, end: 300))
        table.takenOver(2)
        #expect(table.nextStep(ofFrontAt: 300, reach: 4) == .takeOver(piece: 3, end: 400))
        #expect(!table.hasFreePiece)
    }

    @Test func `what a helper left unfinished is taken over, and the rest asked for`() {
        var table = SegmentTable(total: 300, length: 100)
        #expect(table.nextStep(ofFrontAt: 0, reach: 1) == .fetch(end: 100))
        #expect(table.claim() == 1)
        table.grow(1, by: 40)
        table.release(1)
        #expect(table.nextStep(ofFrontAt: 100, reach: 1) == .takeOver(piece: 1, end: 140))
        table.takenOver(1)
        #expect(table.nextStep(ofFrontAt: 140, reach: 1) == .fetch(end: 200))
    }

    @Test func `an unfinished piece goes on where it was left, and no reach goes over it`() {
        var table = SegmentTable(total: 500, length: 100, held: [200..<240, 300..<400])
        #expect(table.nextStep(ofFrontAt: 0, reach: 4) == .fetch(end: 200))
        #expect(table.claim() == 2)
        #expect(table.claim() == 4)
        #expect(table.claim() == nil)
    }

    @Test func `a piece that the front has passed already is of no use`() {
        var table = SegmentTable(total: 300, length: 100, held: [0..<60])
        #expect(table.nextStep(ofFrontAt: 60, reach: 1) == .fetch(end: 100))
        var longer = SegmentTable(total: 300, length: 100, held: [0..<60])
        #expect(longer.nextStep(ofFrontAt: 20, reach: 1) == .takeOver(piece: 0, end: 60))
    }

    @Test(
        arguments: zip(
            [0, 60, 100, 220, 250] as [Int64], [[100..<240], [0..<60, 100..<240], [0..<240], [0..<240], [0..<250]]))
    func `bytes that are next to each other are one range`(front: Int64, ranges: [Range<Int64>]) {
        let table = SegmentTable(total: 500, length: 100, held: [100..<240, 400..<450])
        #expect(table.onDisk == [1: 100, 2: 40, 4: 50])
        #expect(table.held(front: front) == ranges + [400..<450])
    }

    @Test func `a piece of which a helper brought nothing is asked for with its neighbours`() {
        var table = SegmentTable(total: 400, length: 100)
        #expect(table.claim() == 0)
        #expect(table.claim() == 1)
        table.release(0)
        table.release(1)
        #expect(table.onDisk.isEmpty)
        #expect(table.nextStep(ofFrontAt: 0, reach: 4) == .fetch(end: 400))
    }

    @Test func `after a failure the front waits instead of helping`() {
        var table = SegmentTable(total: 300, length: 100)
        #expect(table.nextStep(ofFrontAt: 0, reach: 1) == .fetch(end: 100))
        #expect(table.claim() == 1)
        #expect(table.nextStep(ofFrontAt: 100, reach: 1, mayHelp: false) == .wait(piece: 1))
    }

    /// Front and helpers in any order, with helpers that fail anywhere: every byte is brought once, and the front always
    /// comes to the end.
    @Test(arguments: 0..<Tier.choose(quick: 50, full: 200, long: 2000))
    func `every byte is asked for once`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let total = Int64.random(in: 1...2000, using: &random)
        var table = SegmentTable(total: total, length: Int64.random(in: 1...300, using: &random))
        var asked: Int64 = 0
        var offset: Int64 = 0
        var helped: [Int] = []
        func bring(_ piece: Int, fails: Bool) {
            let before = table.onDisk[piece] ?? 0
            let rest = Int64(table.range(of: piece).count) - before
            let brought = fails ? Int64.random(in: 0..<rest, using: &random) : rest
            asked += brought
            table.grow(piece, by: brought)
            table.release(piece)
            // What is noted of the bytes is what the next run begins with.
            let held = table.held(front: offset)
            let next = SegmentTable(total: total, length: table.length, held: held, front: offset)
            #expect(next.held(front: offset) == held)
        }
        var steps = 0
        while offset < total {
            steps += 1
            #expect(steps < 20_000)
            if steps >= 20_000 { return }
            if Bool.random(using: &random), let piece = table.claim() { helped.append(piece) }
            if Bool.random(using: &random), let index = helped.indices.randomElement(using: &random) {
                bring(helped.remove(at: index), fails: Bool.random(using: &random))
            }
            switch table.nextStep(ofFrontAt: offset, reach: Int.random(in: 1...4, using: &random)) {
            case .takeOver(let piece, let end):
                offset = end
                table.takenOver(piece)
            case .fetch(let end):
                #expect(end > offset)
                asked += end - offset
                offset = end
            case .help(let piece): helped.append(piece)
            case .wait(let piece):
                helped.removeAll { $0 == piece }
                bring(piece, fails: Bool.random(using: &random))
            }
        }
        #expect(offset == total)
        #expect(asked == total)
    }
}
