import Testing

@testable import BookModel

@Suite struct SpeedMeterTests {
    private let start = ContinuousClock.now

    private func meter(_ samples: [(milliseconds: Int, bytes: Int64)]) -> SpeedMeter {
        var meter = SpeedMeter()
        for sample in samples { meter.record(sample.bytes, at: start + .milliseconds(sample.milliseconds)) }
        return meter
    }

    private func speed(_ samples: [(Int, Int64)], at milliseconds: Int) -> Double? {
        meter(samples).bytesPerSecond(at: start + .milliseconds(milliseconds)).map { $0.rounded() }
    }

    @Test func `nothing is told before there is something to tell`() {
        #expect(speed([], at: 1000) == nil)
        #expect(speed([(0, 0)], at: 100) == nil)
        #expect(speed([(0, 0), (100, 500)], at: 100) == nil)
    }

    @Test func `bytes that were there at the start do not count`() {
        #expect(speed([(0, 1_000_000), (1000, 1_000_500)], at: 1000) == 500)
    }

    @Test func `only the last five seconds count`() {
        var fast: [(Int, Int64)] = []
        for second in 0...10 { fast.append((second * 1000, Int64(second) * 1000)) }
        var slow: [(Int, Int64)] = []
        for second in 1...10 { slow.append((10_000 + second * 1000, 10_000 + Int64(second) * 100)) }
        #expect(speed(fast + slow, at: 20_000) == 100)
        #expect(speed(fast, at: 10_000) == 1000)
    }

    @Test func `a transfer that stalls slows down and stands still after five seconds`() {
        let samples: [(Int, Int64)] = [(0, 0), (1000, 1000), (2000, 2000), (2040, 2040)]
        #expect(speed(samples, at: 4000) == 510)
        #expect(speed(samples, at: 6900) == 176)
        #expect(speed(samples, at: 7040) == 0)
        #expect(speed(samples, at: 60_000) == 0)
    }

    @Test func `a transfer that begins anew is measured anew`() {
        #expect(speed([(0, 0), (1000, 9000), (1100, 0), (2100, 700)], at: 2100) == 700)
    }

    @Test func `the time in which the process was stopped does not count`() {
        #expect(speed([(0, 0), (1000, 1000), (61_000, 1100), (62_000, 2100)], at: 62_000) == 1000)
    }

    @Test func `thousands of reports a second are told exactly`() {
        let samples: [(Int, Int64)] = (0...8000).map { ($0, Int64($0) * 10) }
        #expect(speed(samples, at: 8000) == 10_000)
    }
}
