import BookModel
import Foundation
import Testing

@Suite struct OutsideNumbersTests {
    private static let extremes: [Int64] = [.min, .min + 1, -1, 0, 1, 1 << 40, .max - 1, .max]

    @Test func `arithmetic that does not fit gives the closest number that does`() {
        func closest(_ result: (partialValue: Int64, overflow: Bool), _ exact: Double) -> Int64 {
            result.overflow ? (exact > 0 ? .max : .min) : result.partialValue
        }
        for one in Self.extremes {
            for other in Self.extremes {
                let (first, second) = (Double(one), Double(other))
                #expect(one.addingSaturated(other) == closest(one.addingReportingOverflow(other), first + second))
                #expect(
                    one.subtractingSaturated(other) == closest(one.subtractingReportingOverflow(other), first - second))
                #expect(
                    one.multipliedSaturated(by: other)
                        == closest(one.multipliedReportingOverflow(by: other), first * second))
            }
        }
        #expect([Int64.max, .max, 5].saturatedSum(of: \.self) == .max)
        #expect([Int64.min, .min].saturatedSum(of: \.self) == .min)
        #expect([UInt.max, 1].saturatedSum(of: \.self) == .max)
        #expect([Int]().saturatedSum(of: \.self) == 0)
    }

    @Test(
        arguments: [
            (1.5, 2), (-1.5, -2), (1e19, .max), (-1e308, .min), (.infinity, .max), (-.infinity, .min), (.nan, 0),
            (9_223_372_036_854_775_808, .max), (-9_223_372_036_854_775_808, .min), (1e-308, 0),
        ] as [(Double, Int64)])
    func `a floating-point number becomes the closest whole one`(number: Double, whole: Int64) {
        #expect(Int64(clamping: number) == whole)
    }

    @Test(arguments: [-.infinity, -1e308, -1e15, 0, 1e12, 1e300, .infinity, .nan] as [Double])
    func `every time is one that calendars can show`(seconds: Double) {
        let year = Calendar(identifier: .gregorian).component(.year, from: Date(clamping: seconds))
        #expect((1...10000).contains(year))
    }

    @Test func `plans of any sizes have a sum, and speeds of any bytes`() {
        var board = SpeedMeter()
        let begin = ContinuousClock.now
        board.record(.min, at: begin)
        board.record(.max, at: begin + .seconds(1))
        #expect(board.bytesPerSecond(at: begin + .seconds(1)) == Double(Int64.max))
        #expect(ByteProgress(bytesDone: .min, total: .max, bytesPerSecond: 1).secondsLeft == Double(Int64.max))
        let whole = ShelfSum(books: .max, episodes: .max, bytes: .max)
        var sum = whole
        sum += whole
        #expect(sum == whole)
    }
}
