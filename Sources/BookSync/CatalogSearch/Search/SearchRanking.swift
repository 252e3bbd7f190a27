import BookModel
import CatalogFetcher
import CatalogStore

/// How well books fit what is looked for, told from their titles and people alone.
struct SearchRanking: Sendable {
    /// The less the better.
    enum Fit: Int {
        /// The title is the text, begins with it, or has all its words.
        case title, beginning, words
        /// Title, author and narrator together have all the words.
        case people
        /// The title has all the words if one letter of each may be wrong.
        case typo
        /// The text is how the initials of the title's pinyin begin.
        case initials
        case someWord
        case nothing
    }

    private let text: SearchQuery?
    private let author: SearchQuery?
    /// Of pinyin; nil for what cannot be some.
    private let initials: String?

    /// - Throws: ``Failure`` of kind `usage` where there is nothing to look for.
    init(_ query: CatalogQuery) throws {
        // It may hold a password, which public catalogs must not get.
        guard !query.text.contains("://") else {
            throw Failure(
                .usage, what: "an address is not searched for", why: "catalogs are searched for titles and people",
                remedy: "booksync catalog ADDRESS shows what is there, booksync subscribe ADDRESS follows it")
        }
        text = query.text.isEmpty && query.author != nil ? nil : try SearchQuery(query.text)
        author = try query.author.map { try SearchQuery($0) }
        let folded = TitleIndex.key(of: query.text)
        initials = folded.count > 1 && folded.allSatisfy { $0.isASCII && $0.isLetter } ? folded : nil
    }

    /// Whether the book is by the author that is looked for, if any is.
    func isByAuthor(_ entry: CatalogEntry) -> Bool {
        author?.matches(SearchText(entry.author ?? "")) ?? true
    }

    func fit(of entry: CatalogEntry) -> Fit {
        guard let text else { return .words }
        let title = SearchText(entry.title)
        if text.matches(title) { return [.title, .beginning, .words][text.distance(of: title)] }
        let all = [title] + [entry.author, entry.narrator].compactMap { $0.map { SearchText($0) } }
        if text.matches(all) { return .people }
        if text.words.allSatisfy({ Self.isNearly($0, in: title) }) { return .typo }
        if let initials, PinyinInitials(of: TitleIndex.key(of: entry.title))?.begin(with: initials) == true {
            return .initials
        }
        return text.words.contains { word in all.contains { $0.holds(word) } } ? .someWord : .nothing
    }

    /// Whether a word is there with one wrong letter. Of two or three letters that would be another word.
    private static func isNearly(_ word: SearchText, in title: SearchText) -> Bool {
        if title.holds(word) { return true }
        let wanted = word.string
        let isChinese = wanted.unicodeScalars.contains { $0.properties.isIdeographic }
        guard wanted.count >= (isChinese ? 3 : 4) else { return false }
        return title.words.contains { other in
            let letters = Array(other.string)
            guard isChinese, letters.count > wanted.count else { return editDistance(wanted, other.string) <= 1 }
            // Chinese puts no spaces between words.
            return (0...(letters.count - wanted.count)).contains {
                editDistance(wanted, String(letters[$0..<($0 + wanted.count)])) <= 1
            }
        }
    }
}

extension SearchText {
    fileprivate var string: String { String(decoding: bytes, as: UTF8.self) }
}
