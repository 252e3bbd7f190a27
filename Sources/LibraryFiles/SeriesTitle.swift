import Foundation

/// The series of a book and its number there, as far as its title says them: no catalog has fields of their own for them.
///
/// Read are `Title (Series, Book 2)`, `Series, Book 2: Title`, `Series Vol. II`, `Series #3` and 系列 第二部. A number
/// alone is none (`Fahrenheit 451`), nor is one behind a word that may belong to the title (`The Jungle Book 2`).
package struct SeriesTitle: Equatable {
    package let name: String
    /// As a number: `2`.
    package let part: String

    package init?(_ title: String) {
        let inBrackets =
            /^(?<title>.+?)\s*[(（\[](?<name>.*?)[\s,，:：]*(?:book|part|volume|vol\.|vol|no\.|#)\s*(?<part>[0-9]{1,3}|[ivxlc]{1,6})[)）\]]$/
            .ignoresCase()
        let plain =
            /^(?<name>.+?)(?:\s*[,，:：;–—-]\s*(?:book|part|volume|vol\.|vol|no\.)|\s+(?:volume|vol\.|vol)|\s*#)\s*(?<part>[0-9]{1,3}|[ivxlc]{1,6})(?:\s*[,，:：;–—-].*)?$/
            .ignoresCase()
        let chinese = /^(?<name>.+?)[\s,，:：·(（-]*第(?<part>[0-9]{1,3}|[一二三四五六七八九十]{1,3})[部卷季册](?:[\s:：·)）—-].*)?$/
        if let found = title.wholeMatch(of: inBrackets) {
            self.init(found.name.isEmpty ? found.title : found.name, found.part)
        } else if let found = title.wholeMatch(of: plain) {
            self.init(found.name, found.part)
        } else if let found = title.wholeMatch(of: chinese) {
            self.init(found.name, found.part)
        } else {
            return nil
        }
    }

    private init?(_ name: Substring, _ number: Substring) {
        guard let value = Int(number) ?? Self.roman(number.lowercased()) ?? Self.chinese(number) else { return nil }
        self.name = name.trimmingCharacters(in: .whitespaces)
        self.part = "\(value)"
    }

    private static func roman(_ text: String) -> Int? {
        let values = text.compactMap { ["i": 1, "v": 5, "x": 10, "l": 50, "c": 100][$0] }
        guard !values.isEmpty else { return nil }
        return zip(values, values.dropFirst() + [0]).reduce(0) { $0 + ($1.0 < $1.1 ? -$1.0 : $1.0) }
    }

    private static func chinese(_ text: Substring) -> Int? {
        let digits: [Character: Int] = [
            "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9,
        ]
        guard let ten = text.firstIndex(of: "十") else { return text.first.flatMap { digits[$0] } }
        let (tens, ones) = (text[..<ten].first, text[ten...].dropFirst().first)
        return (tens.flatMap { digits[$0] } ?? 1) * 10 + (ones.flatMap { digits[$0] } ?? 0)
    }
}
