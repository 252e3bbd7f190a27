/// How often, and after which waits, something is tried again within a run.
package struct RetryPolicy: Sendable, Hashable {
    /// Tries after the first one that bring nothing; progress starts the count anew.
    package var retries: Int
    /// Seconds before the first retry at most.
    package var firstWait: Double
    /// Seconds between tries at most.
    package var longestWait: Double

    package init(retries: Int = 5, firstWait: Double = 0.5, longestWait: Double = 30) {
        self.retries = retries
        self.firstWait = firstWait
        self.longestWait = longestWait
    }

    /// Exponential backoff with full jitter.
    ///
    /// With the defaults the waits lie between 0 and
    ///
    /// | failures so far | 1 | 2 | 3 | 4 | 5 | 6 | 7 and more |
    /// | --- | --- | --- | --- | --- | --- | --- | --- |
    /// | seconds | 0.5 | 1 | 2 | 4 | 8 | 16 | 30 |
    ///
    /// - Parameters:
    ///   - failures: tries in a row that brought nothing, from 1 on.
    ///   - random: from 0 up to 1, drawn by the caller.
    /// - Returns: seconds to wait, or nil when the budget is used up.
    package func wait(afterFailures failures: Int, random: Double) -> Double? {
        guard failures <= retries else { return nil }
        var ceiling = firstWait
        for _ in 1..<max(failures, 1) where ceiling < longestWait { ceiling *= 2 }
        return min(ceiling, longestWait) * random
    }

    /// Seconds that anything waits at most because a server asks for it. Where one asks for more, it is asked by a later run,
    /// and not too early by this one.
    package static let longestRequestedWait: Double = 300
    /// Seconds beyond which no wish is taken at its word: the next night asks again.
    static let longestMeantWait: Double = 20 * 3600

    /// What `Retry-After` asks for (RFC 9110 §10.2.3), 20 hours at most.
    ///
    /// - Parameters:
    ///   - date: the answer's `Date` field (§6.6.1). A date to retry after is meant by the clock that wrote both; ours may
    ///     be years off.
    ///   - now: seconds since 1970 by our clock, for an answer without a date.
    /// - Returns: seconds to wait; nil when the field is missing or says nothing that can be read.
    package static func requestedWait(retryAfter field: String?, date: String? = nil, now: Double) -> Double? {
        guard let text = field?.drop(while: { $0 == " " }), !text.isEmpty else { return nil }
        let seconds: Double
        if text.allSatisfy({ $0.isASCII && $0.isNumber }) {
            seconds = Double(text) ?? longestMeantWait
        } else if let wanted = HTTPDate.seconds(parsing: String(text)) {
            seconds = Double(wanted) - (date.flatMap(HTTPDate.seconds(parsing:)).map(Double.init) ?? now)
        } else {
            return nil
        }
        return min(max(seconds, 0), longestMeantWait)
    }
}
