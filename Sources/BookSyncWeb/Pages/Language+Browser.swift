import BookModel

extension Language {
    /// The language that a visitor likes best of those there are (RFC 9110 §12.5.4, matched by RFC 4647 §3.3.1).
    ///
    /// Of equally liked ones the first that is named; without a wish, and where none of the wishes can be met, English.
    /// - Parameter acceptLanguage: the field's value, several of them joined by commas; nil where there is none.
    package init(acceptLanguage: String?) {
        var best: (language: Language, quality: Int)?
        for range in WeightedItem.items(in: acceptLanguage ?? "") where range.quality > (best?.quality ?? 0) {
            guard let language = Self.language(of: range.name) else { continue }
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
}
