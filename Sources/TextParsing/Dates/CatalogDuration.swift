/// How long an episode plays, as catalogs write it.
package enum CatalogDuration {
    /// Thirty days: what lies beyond is a mistake.
    static let maximum: Double = 30 * 86400

    /// Reads `SS`, `MM:SS` and `HH:MM:SS`, each with a fraction, with white space around it. Minutes and seconds may be
    /// above 59 (`61:08`).
    /// - Returns: seconds; nil when the text is no such time, is negative, or is above ``greatest``.
    package static func seconds(parsing text: some StringProtocol) -> Double? {
        var total = 0.0
        var part = 0.0
        var digits = 0
        var colons = 0
        /// What the next digit of a fraction counts; nil before the point.
        var fraction: Double?
        for byte in CatalogText.trimmed(String(text)).utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let digit = Double(byte - UInt8(ascii: "0"))
                if let weight = fraction {
                    part += digit * weight
                    fraction = weight / 10
                } else {
                    part = part * 10 + digit
                }
                digits += 1
            case UInt8(ascii: ":") where digits > 0 && fraction == nil && colons < 2:
                total = (total + part) * 60
                part = 0
                digits = 0
                colons += 1
            case UInt8(ascii: ".") where digits > 0 && fraction == nil: fraction = 0.1
            default: return nil
            }
        }
        total += part
        return digits > 0 && total <= maximum ? total : nil
    }
}
