import BookModel
import Foundation

/// Finds books by their titles, for users who don't know a book's id.
package struct TitleIndex: Sendable {
    package struct Entry: Sendable, Hashable {
        package var book: BookIdentity
        package var title: String

        package init(book: BookIdentity, title: String) {
            self.book = book
            self.title = title
        }
    }

    private let entries: [(entry: Entry, key: String)]

    package init(_ entries: [Entry]) {
        self.entries = entries.map { ($0, Self.key(of: $0.title)) }
    }

    /// The books with this title; where there is none, those whose title begins so; and else those whose title begins with
    /// these initials of its pinyin, as `hdgd` does for 回到古代当兽医. Case, accents and full-width forms make no difference.
    package func matches(_ text: String) -> [Entry] {
        let wanted = Self.key(of: text)
        guard wanted.contains(where: \.isLetter) else { return [] }
        for isMatch in [{ $0 == wanted }, { $0.hasPrefix(wanted) }] as [(String) -> Bool] {
            let found = entries.filter { isMatch($0.key) }
            if !found.isEmpty { return found.map(\.entry) }
        }
        guard wanted.count > 1, wanted.allSatisfy({ $0.isASCII && $0.isLetter }) else { return [] }
        return entries.filter { PinyinInitials(of: $0.key)?.begin(with: wanted) == true }.map(\.entry)
    }

    package static func key(of text: String) -> String {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    }
}
