/// The gap between requests to a catalog that said "too often": each time it does, the gap doubles, and it stays.
///
/// | refusals so far | 1 | 2 | 3 | 4 | 5 | 6 and more |
/// | --- | --- | --- | --- | --- | --- | --- |
/// | seconds | 2 | 4 | 8 | 16 | 32 | 60 |
struct Backoff {
    /// Waits in a row after which the catalog is given up.
    static let maxWaits = 6

    private(set) var gap: Duration = .zero

    mutating func widen() {
        gap = gap == .zero ? .seconds(2) : min(gap * 2, .seconds(60))
    }
}
