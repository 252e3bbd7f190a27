import BookModel
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
        let isChinese = !number.allSatisfy(\.isASCII)
        let numeral = isChinese ? Numerals.value(of: number) : Numerals.romans[Substring(number.uppercased())]
        guard let value = Int(number) ?? numeral else { return nil }
        self.name = name.trimmingCharacters(in: .whitespaces)
        self.part = "\(value)"
    }
}
