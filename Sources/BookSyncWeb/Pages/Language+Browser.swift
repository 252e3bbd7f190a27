import BookModel

extension Language {
    /// The language that a visitor likes best of those there are (RFC 9110 §12.5.4, matched by RFC 4647 §3.3.1).
    ///
    /// Of equally liked ones the first that is named; without a wish, and where none of the wishes can be met, English.
    /// - Parameter acceptLanguage: the field's value, several of them joined by commas; nil where there is none.
    package init(acceptLanguage: String?) {
        var best: (language: Language, quality: Int)?
        for range in Self.ranges(in: acceptLanguage ?? "") where range.quality > (best?.quality ?? 0) {
            guard let language = Self.language(of: range.tag) else { continue }
            best = (language, range.quality)
        }
        self = best?.language ?? .english
    }

    /// - Returns: nil for a language that there are no pages in.
    private static func language(of tag: Substring) -> Language? {
        if tag == "*" { return .english }
        let first = tag.prefix { $0 != "-" }.lowercased()
        return allCases.first { $0.rawValue == first }
    }

    /// The language ranges with their qualities in thousandths; what cannot be read is passed over.
    private static func ranges(in text: String) -> [(tag: Substring, quality: Int)] {
        // Nobody speaks more, and a field may be long.
        text.split(separator: ",").prefix(64).compactMap { element in
            let parts = element.split(separator: ";", omittingEmptySubsequences: false).map(trimmed)
            guard let tag = parts.first, !tag.isEmpty else { return nil }
            guard parts.count > 1 else { return (tag, 1000) }
            guard parts.count == 2, let quality = quality(parts[1]) else { return nil }
            return (tag, quality)
        }
    }

    /// `q=0.8`: a number from 0 to 1 with three decimals at most (RFC 9110 §12.4.2).
    private static func quality(_ text: Substring) -> Int? {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "q" else { return nil }
        let number = parts[1].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = number.first, whole == "0" || whole == "1" else { return nil }
        let decimals = number.count == 2 ? String(number[1]) : ""
        guard decimals.utf8.count <= 3, decimals.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let thousandths = Int(decimals + String(repeating: "0", count: 3 - decimals.utf8.count)) ?? 0
        let quality = (whole == "1" ? 1000 : 0) + thousandths
        return quality <= 1000 ? quality : nil
    }
}

private func trimmed(_ text: Substring) -> Substring {
    var text = text.drop { $0 == " " || $0 == "\t" }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
}
