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
    /// set, and where a locale's encoding is not UTF-8, which is what goes into files and pipes.
    package init(environment: [String: String]) {
        if let wanted = environment[Self.variable].flatMap(Language.init(localeName:)) {
            self = wanted
            return
        }
        let locale = Self.locale("LC_MESSAGES", environment)
        self = Self.encoding(of: locale) == nil ? Language(localeName: locale) ?? .english : .english
    }

    /// The encoding of the user's terminal by its locale (POSIX §8.2: the first that is set of `LC_ALL`, `LC_CTYPE` and `LANG`),
    /// as `iconv` knows it; nil for UTF-8, and where nothing is said.
    package static func encoding(environment: [String: String]) -> String? {
        encoding(of: locale("LC_CTYPE", environment))
    }

    private static func locale(_ category: String, _ environment: [String: String]) -> String {
        ["LC_ALL", category, "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
    }

    private static func encoding(of locale: String) -> String? {
        if locale == "C" || locale == "POSIX" { return "ASCII" }
        let encoding = locale.drop { $0 != "." }.dropFirst().prefix { $0 != "@" }
        return encoding.isEmpty || ["utf-8", "utf8"].contains(encoding.lowercased()) ? nil : String(encoding)
    }
}
