import Testing

@testable import Transport

@Suite struct TokenBucketTests {
    @Test func `a short burst passes at once`() {
        var bucket = TokenBucket(bytesPerSecond: 1_000_000, now: 0)
        #expect(bucket.take(250_000, now: 0) == 0)
        #expect(bucket.take(1, now: 0) > 0)
    }

    @Test(arguments: [1400, 16_384, 262_144], [100_000.0, 2_000_000])
    func `over ten seconds the rate is kept within five percent`(part: Int, rate: Double) {
        var bucket = TokenBucket(bytesPerSecond: rate, now: 0)
        var now = 0.0
        var passed = 0
        while true {
            let wait = bucket.take(part, now: now)
            if now + wait > 10 { break }
            now += wait
            passed += part
        }
        #expect(Double(passed) <= rate * 10 * 1.05)
        #expect(Double(passed) >= rate * 10 * 0.95 - Double(part))
    }

    @Test func `what was not used is not saved up beyond the burst`() {
        var bucket = TokenBucket(bytesPerSecond: 1000, now: 0)
        #expect(bucket.take(250, now: 3600) == 0)
        #expect(bucket.take(1000, now: 3600) == 1)
    }
}
