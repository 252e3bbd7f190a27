import BookModel

/// How long an episode plays, as catalogs write it.
package enum CatalogDuration {
    /// Thirty days: what lies beyond is a mistake.
    package static let maximum: Double = 30 * 86400

    /// Reads `SS`, `MM:SS` and `HH:MM:SS`, each with a fraction, with white space around it and its colons. Minutes and seconds may
    /// be above 59 (`61:08`).
    /// - Returns: seconds; nil when the text is no such time, is negative, or is above ``maximum``.
    package static func seconds(parsing text: some StringProtocol) -> Double? {
        var total = 0.0
        var part = 0.0
        var digits = 0
        var colons = 0
        /// What the digits are to be divided by; nil before the point.
        var scale: Double?
        var text = CatalogText.trimmed(String(text))
        if text.utf8.contains(where: { $0 == 0x20 || $0 >= 0x80 }) { text.replace(/\s*[:：]\s*/, with: ":") }
        for byte in text.utf8 {
            switch byte {
            case _ where byte.isDigit:
                digits += 1
                // What is finer than that a number cannot tell.
                if let scale, scale >= 1e9 { continue }
                part = part * 10 + Double(byte - UInt8(ascii: "0"))
                scale = scale.map { $0 * 10 }
            case UInt8(ascii: ":") where digits > 0 && scale == nil && colons < 2:
                total = (total + part) * 60
                part = 0
                digits = 0
                colons += 1
            case UInt8(ascii: ".") where digits > 0 && scale == nil: scale = 1
            default: return nil
            }
        }
        total += part / (scale ?? 1)
        return digits > 0 && total <= maximum ? total : nil
    }

    /// Reads ISO 8601 without years and months, as manifests write it (`PT1H2M3.5S`), and what ``seconds(parsing:)`` reads.
    package static func manifestSeconds(parsing text: String) -> Double? {
        let text = CatalogText.trimmed(text)
        guard text.hasPrefix("P") else { return seconds(parsing: text) }
        let format = /P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?/
        guard text.utf8.count < 100, let parts = text.wholeMatch(of: format)?.output else { return nil }
        let units: [(text: Substring?, seconds: Double)] = [
            (parts.1, 86400), (parts.2, 3600), (parts.3, 60), (parts.4, 1),
        ]
        let total = units.reduce(0) { $0 + ($1.text.flatMap { Double($0) } ?? 0) * $1.seconds }
        return total > 0 && total <= maximum ? total : nil
    }

    /// The same as archives write it: what is behind a colon is below 60, and nothing means that it is not known.
    package static func archivedSeconds(parsing text: String) -> Double? {
        let fields = CatalogText.trimmed(text).split(separator: ":").dropFirst()
        guard fields.allSatisfy({ Double($0).map { $0 < 60 } ?? false }) else { return nil }
        return seconds(parsing: text).flatMap { $0 > 0 ? $0 : nil }
    }
}
