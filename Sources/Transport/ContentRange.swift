import BookModel

/// The `Content-Range` field (RFC 9110 §14.4).
package enum ContentRange: Equatable, Sendable {
    /// `bytes FIRST-LAST/TOTAL`; the total is nil where the server wrote `*`.
    case bytes(first: Int64, last: Int64, total: Int64?)
    /// `bytes */TOTAL`, of a 416.
    case unsatisfied(total: Int64)
    /// Anything else: another unit, numbers that contradict one another or are absurd.
    case unreadable

    package init(parsing text: String) {
        self = Self.parse(text) ?? .unreadable
    }

    private static func parse(_ text: String) -> ContentRange? {
        let words = text.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let total = number(halves[1])
        if halves[0] == "*" { return total.map { .unsatisfied(total: $0) } }
        guard total != nil || halves[1] == "*" else { return nil }
        let bounds = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = number(bounds[0]), let last = number(bounds[1]), first <= last,
            total.map({ last < $0 }) ?? true
        else { return nil }
        return .bytes(first: first, last: last, total: total)
    }

    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int64(text),
            number <= FileSize.max
        else { return nil }
        return number
    }
}
