import Transport

/// The rates that a run's transfers are held to: all of them to one, those of a source to another.
struct TransferRates: Sendable {
    private let run: RateLimiter?
    private let sources: [String: RateLimiter]

    init(_ settings: EngineSettings) {
        run = settings.limitRate > 0 ? RateLimiter(bytesPerSecond: settings.limitRate) : nil
        sources = settings.sourceRates.filter { $0.value > 0 }.mapValues(RateLimiter.init(bytesPerSecond:))
    }

    /// What one transfer is held to.
    func limiters(of source: String) -> [RateLimiter] { [run, sources[source]].compactMap(\.self) }
}

extension [RateLimiter] {
    /// Returns when so many bytes, which have just been received, may have been.
    /// - Throws: `CancellationError`.
    func pass(_ bytes: Int) async throws {
        // What is waited for the one counts for the next.
        for limiter in self { try await limiter.pass(bytes) }
    }
}
