import Foundation

/// Lengths of recordings as archives write them.
package enum PlayingTime {
    /// Thirty days: what is longer is a mistake.
    static let maximum: Double = 30 * 86400

    /// Seconds from `148.97`, `02:28` or `1:02:28`; nil for what is no length, for nothing at all, and for more than
    /// ``greatest``.
    package static func seconds(_ text: String) -> Double? {
        let parts = text.trimmingCharacters(in: .whitespaces).split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count) else { return nil }
        var seconds = 0.0
        for (place, part) in parts.enumerated() {
            let isLast = place == parts.count - 1
            guard !part.isEmpty, part.count <= 12,
                part.utf8.allSatisfy({ JSONBytes.isDigit($0) || isLast && $0 == UInt8(ascii: ".") }),
                let number = Double(part), place == 0 || number < 60
            else { return nil }
            seconds = seconds * 60 + number
        }
        return seconds > 0 && seconds <= maximum ? seconds : nil
    }
}
