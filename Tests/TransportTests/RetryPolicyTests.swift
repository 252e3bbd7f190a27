import Testing

@testable import Transport

@Suite struct RetryPolicyTests {
    @Test(arguments: zip(1...6, [0.5, 1, 2, 4, 8, nil]))
    func `the wait doubles and the budget ends`(failures: Int, ceiling: Double?) {
        #expect(RetryPolicy().wait(afterFailures: failures, random: 1) == ceiling)
    }

    @Test func `jitter takes the whole span down to nothing`() {
        #expect(RetryPolicy().wait(afterFailures: 3, random: 0) == 0)
        #expect(RetryPolicy().wait(afterFailures: 3, random: 0.25) == 0.5)
    }

    @Test func `no wait is longer than the longest, and none that a server asks for longer than five minutes`() {
        #expect(RetryPolicy.longestRequestedWait == 300)
        #expect(RetryPolicy(retries: 100).wait(afterFailures: 60, random: 1) == 30)
    }

    @Test(arguments: [
        ("120", 120.0), (" 7", 7), ("0", 0), ("7200", 7200), ("86400", 72_000), ("99999999999999999999999999", 72_000),
        ("Sun, 06 Nov 1994 08:49:47 GMT", 10), ("Sun, 06 Nov 1994 08:49:30 GMT", 0), ("soon", nil), ("", nil),
        ("-5", nil), ("1.5", nil),
    ])
    func `Retry-After is read as seconds or as a date, 20 hours at most`(field: String, seconds: Double?) {
        // 1994-11-06T08:49:37Z
        #expect(RetryPolicy.requestedWait(retryAfter: field, now: 784_111_777) == seconds)
    }

    @Test func `no Retry-After asks for nothing`() {
        #expect(RetryPolicy.requestedWait(retryAfter: nil, now: 0) == nil)
    }

    @Test(arguments: [
        // The server's clock is years behind, or ahead, or says nothing that can be read.
        ("Sun, 06 Nov 1994 08:49:27 GMT", 20.0), ("Sat, 06 Nov 2094 08:49:27 GMT", 0), ("now", 10), (nil, 10),
    ])
    func `case 43: a date to retry after is meant by the clock of the server that wrote it`(
        date: String?, seconds: Double
    ) {
        let wait = RetryPolicy.requestedWait(
            retryAfter: "Sun, 06 Nov 1994 08:49:47 GMT", date: date, now: 784_111_777)
        #expect(wait == seconds)
        #expect(RetryPolicy.requestedWait(retryAfter: "7", date: date, now: 0) == 7)
    }
}
