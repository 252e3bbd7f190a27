import BookModel

/// How long an episode plays, as catalogs write it.
package enum CatalogDuration {
    /// Thirty days: what lies beyond is a mistake.
    package static let maximum: Double = 30 * 86400

    /// Reads `SS`, `MM:SS` and `HH:MM:SS`, each with a fraction, with white space around it and its colons. Minutes and seconds may
    /// be above 59 (`61:08`).
    /// - Returns: seconds; nil when the text is no such time, is negative, or is above ``maximum``.
    package static func seconds(parsing text: some StringProtocol) -> Double? {
        var text = CatalogText.trimmed(String(text))
        if text.utf8.contains(where: { $0 == 0x20 || $0 >= 0x80 }) { text.replace(/\s*[:：]\s*/, with: ":") }
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count <= 3 else { return nil }
        var total = 0.0
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            guard part.first?.isDigit == true,
                part.allSatisfy({ $0.isDigit || isLast && $0 == UInt8(ascii: ".") }),
                let number = Double(Substring(part))
            else { return nil }
            total = total * 60 + number
        }
        return total <= maximum ? total : nil
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
