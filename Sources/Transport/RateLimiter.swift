/// Lets bytes through at a steady rate and short bursts at once. Knows no clock: times come in as seconds.
struct TokenBucket {
    private let bytesPerSecond: Double
    private let capacity: Double
    private var tokens: Double
    private var lastTime: Double

    init(bytesPerSecond: Double, now: Double) {
        self.bytesPerSecond = bytesPerSecond
        // A quarter of a second's worth: a burst that no average over some seconds notices.
        capacity = bytesPerSecond / 4
        tokens = capacity
        lastTime = now
    }

    /// Takes bytes that have arrived already, if need be on credit.
    /// - Returns: seconds to wait until the credit is paid back.
    mutating func take(_ bytes: Int, now: Double) -> Double {
        tokens = min(capacity, tokens + max(0, now - lastTime) * bytesPerSecond)
        lastTime = max(now, lastTime)
        tokens -= Double(bytes)
        return tokens >= 0 ? 0 : -tokens / bytesPerSecond
    }
}

/// Holds all transfers of a run to one rate.
package actor RateLimiter {
    private var bucket: TokenBucket
    private let begin = ContinuousClock.now

    /// - Parameter bytesPerSecond: more than 0.
    package init(bytesPerSecond: Int64) {
        bucket = TokenBucket(bytesPerSecond: Double(bytesPerSecond), now: 0)
    }

    /// Returns when so many bytes, which have just been received, may have been.
    /// - Throws: `CancellationError`.
    package func pass(_ bytes: Int) async throws {
        let elapsed = ContinuousClock.now - begin
        let wait = bucket.take(bytes, now: elapsed / .seconds(1))
        if wait > 0 { try await Task.sleep(for: .seconds(wait)) }
    }
}
