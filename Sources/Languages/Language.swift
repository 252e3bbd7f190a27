/// A language that the program speaks.
package enum Language: String, Sendable, CaseIterable {
    case english = "en"
    case chinese = "zh"

    /// What a document's `lang` says (BCP 47).
    package var tag: String {
        switch self {
        case .english: "en"
        case .chinese: "zh-Hans"
        }
    }

    /// The language that a locale's name begins with: `zh_CN.UTF-8`, `zh-Hant`, `zh`.
    /// - Returns: nil for a language that the program does not speak.
    package init?(localeName: String) {
        let first = localeName.prefix { $0.isLetter }.lowercased()
        guard let language = Self.allCases.first(where: { $0.rawValue == first }) else { return nil }
        self = language
    }

    /// The environment variable that says which one to speak.
    package static let variable = "BOOKSYNC_LANG"

    /// The language that a process is to speak with its user: that of ``variable``, or else of the locale for messages
    /// (POSIX §8.2: the first that is set of `LC_ALL`, `LC_MESSAGES` and `LANG`). English where that is another, where none is
    /// set, and where a locale's encoding is not UTF-8, which is all that is written.
    package init(environment: [String: String]) {
        if let wanted = environment[Self.variable].flatMap(Language.init(localeName:)) {
            self = wanted
            return
        }
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let encoding = locale.drop { $0 != "." }.dropFirst().prefix { $0 != "@" }.lowercased()
        let isUTF8 = encoding.isEmpty || encoding == "utf-8" || encoding == "utf8"
        self = isUTF8 ? Language(localeName: locale) ?? .english : .english
    }
}
