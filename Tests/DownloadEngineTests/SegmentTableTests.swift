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
        #expect(table.claim(atMost: 1) == nil)
    }

    @Test func `the front begins where the partial file ends`() {
        var table = SegmentTable(total: 1000, length: 100)
        #expect(table.nextStep(ofFrontAt: 250, reach: 1) == .fetch(end: 300))
        #expect(table.claim(atMost: 1) == 3..<4)
    }

    @Test func `helpers take what the front has not asked for, and it takes over what they brought`() {
        var table = SegmentTable(total: 400, length: 100)
        #expect(table.nextStep(ofFrontAt: 0, reach: 1) == .fetch(end: 100))
        #expect(table.claim(atMost: 1) == 1..<2)
        #expect(table.claim(atMost: 1) == 2..<3)
        table.grow(by: 100..<200)
        table.release(1..<2)
        #expect(table.bytesOnDisk == 100)
        #expect(table.nextStep(ofFrontAt: 100, reach: 4) == .takeOver(piece: 1, end: 200))
        table.takenOver(1)
        #expect(table.bytesOnDisk == 0)
        // The third piece is on its way: the front brings the fourth meanwhile, then waits.
        #expect(table.nextStep(ofFrontAt: 200, reach: 4) == .wait(piece: 3, bringing: 3..<4))
        #expect(table.nextStep(ofFrontAt: 200, reach: 4) == .wait(piece: 2, bringing: nil))
        table.grow(by: 200..<300)
        table.release(2..<3)
        table.grow(by: 300..<400)
        table.release(3..<4)
        #expect(table.nextStep(ofFrontAt: 200, reach: 4) == .takeOver(piece: 2, end: 300))
        table.takenOver(2)
        #expect(table.nextStep(ofFrontAt: 300, reach: 4) == .takeOver(piece: 3, end: 400))
        #expect(!table.hasFreePiece)
    }

    @Test func `a request is for an eighth of what nobody fetches, and its whole pieces are taken over meanwhile`() {
        var table = SegmentTable(total: 4000, length: 100)
        #expect(table.share(atMost: 4) == 4)
        #expect(table.claim(atMost: table.share(atMost: 16)) == 0..<5)
        #expect(table.claim(atMost: table.share(atMost: 16)) == 5..<9)
        table.grow(by: 0..<130)
        table.grow(by: 130..<250)
        #expect(table.onDisk == [0: 100, 1: 100, 2: 50])
        #expect(table.nextStep(ofFrontAt: 0, reach: 1) == .takeOver(piece: 0, end: 100))
        table.takenOver(0)
        #expect(table.nextStep(ofFrontAt: 100, reach: 1) == .takeOver(piece: 1, end: 200))
        table.takenOver(1)
        #expect(table.nextStep(ofFrontAt: 200, reach: 2) == .wait(piece: 9, bringing: 9..<11))
        table.release(0..<5)
        #expect(table.nextStep(ofFrontAt: 200, reach: 2) == .takeOver(piece: 2, end: 250))
    }

    @Test func `what a helper left unfinished is taken over, and the rest asked for`() {
        var table = SegmentTable(total: 300, length: 100)
        #expect(table.nextStep(ofFrontAt: 0, reach: 1) == .fetch(end: 100))
        #expect(table.claim(atMost: 1) == 1..<2)
        table.grow(by: 100..<140)
        table.release(1..<2)
        #expect(table.nextStep(ofFrontAt: 100, reach: 1) == .takeOver(piece: 1, end: 140))
        table.takenOver(1)
        #expect(table.nextStep(ofFrontAt: 140, reach: 1) == .fetch(end: 200))
    }

    @Test func `an unfinished piece goes on where it was left, and no reach goes over it`() {
        var table = SegmentTable(total: 500, length: 100, held: [200..<240, 300..<400])
        #expect(table.nextStep(ofFrontAt: 0, reach: 4) == .fetch(end: 200))
        #expect(table.claim(atMost: 1) == 2..<3)
        #expect(table.claim(atMost: 1) == 4..<5)
        #expect(table.claim(atMost: 1) == nil)
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
        #expect(table.claim(atMost: 1) == 0..<1)
        #expect(table.claim(atMost: 1) == 1..<2)
        table.release(0..<1)
        table.release(1..<2)
        #expect(table.onDisk.isEmpty)
        #expect(table.nextStep(ofFrontAt: 0, reach: 4) == .fetch(end: 400))
    }

    @Test func `after a failure the front waits instead of helping`() {
        var table = SegmentTable(total: 300, length: 100)
        #expect(table.nextStep(ofFrontAt: 0, reach: 1) == .fetch(end: 100))
        #expect(table.claim(atMost: 1) == 1..<2)
        #expect(table.nextStep(ofFrontAt: 100, reach: 1, mayHelp: false) == .wait(piece: 1, bringing: nil))
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
        var helped: [Range<Int>] = []
        func bring(_ pieces: Range<Int>, fails: Bool) {
            let range = table.range(of: pieces)
            var start = range.lowerBound + (table.onDisk[pieces.lowerBound] ?? 0)
            let end = fails ? Int64.random(in: start..<range.upperBound, using: &random) : range.upperBound
            asked += end - start
            while start < end {
                let part = start..<Int64.random(in: start + 1...end, using: &random)
                table.grow(by: part)
                start = part.upperBound
            }
            table.release(pieces)
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
            let most = Int.random(in: 1...3, using: &random)
            if Bool.random(using: &random), let pieces = table.claim(atMost: most) { helped.append(pieces) }
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
            case .wait(_, let pieces?): helped.append(pieces)
            case .wait(let piece, nil):
                let index = helped.firstIndex { $0.contains(piece) }
                #expect(index != nil)
                if let index { bring(helped.remove(at: index), fails: Bool.random(using: &random)) }
            }
        }
        #expect(offset == total)
        #expect(asked == total)
    }
}
