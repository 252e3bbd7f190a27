import BookModel
import Foundation

/// The texts of the elements of an item, or of what a feed says of itself, as they are found.
struct FeedTexts {
    /// Of one element.
    private static let maxTexts = 8

    private var texts: [(element: FeedElement, text: String, isHTML: Bool)] = []

    mutating func add(_ text: String, of element: FeedElement, isHTML: Bool) {
        let count = texts.count { $0.element == element }
        if count < Self.maxTexts { texts.append((element, text, isHTML)) }
    }

    func name(of elements: FeedElement...) -> String? { first(of: elements) { FeedText.name($0, isHTML: $1) } }
    func paragraph(of elements: FeedElement...) -> String? {
        first(of: elements) { text, _ in HTMLText.paragraph(text) }
    }
    func number(of elements: FeedElement...) -> Int? { first(of: elements) { text, _ in FeedText.number(text) } }
    /// Seconds since 1970.
    func date(of elements: FeedElement...) -> Double? {
        first(of: elements) { text, _ in CatalogDate.seconds(parsing: text) }
    }

    /// Of several elements the first one in the order given that can be read; of two of one name the first in the document.
    func first<Value>(of elements: [FeedElement], _ read: (String, _ isHTML: Bool) -> Value?) -> Value? {
        for element in elements {
            for found in texts where found.element == element {
                if let value = read(found.text, found.isHTML) { return value }
            }
        }
        return nil
    }
}

/// An item while it is read.
struct FeedItemDraft {
    var item = FeedItem()
    var texts = FeedTexts()
    var enclosures: [FeedEnclosure] = []
    /// RSS 1.0's identity of an item.
    var about: String?

    mutating func take(chapterAt start: Double?, _ title: String?) {
        guard let start, item.simpleChapters.count < MediaInfo.maxChapters else { return }
        let title = title.flatMap { FeedText.name($0, isHTML: false) }
        item.simpleChapters.append(MediaInfo.Chapter(start: start, end: start, title: title))
    }

    /// - Returns: nil when the item encloses nothing.
    func finished() -> FeedItem? {
        // The best kind, `enclosure` before `media:content`, and of equals the first.
        let ranked = enclosures.lazy.map { ($0, $0.kind.rawValue * 2 + ($0.isMediaContent ? 1 : 0)) }
        guard let media = ranked.min(by: { $0.1 < $1.1 })?.0 else { return nil }
        var item = item
        item.media = media
        item.title = texts.name(of: .title, .itunesTitle, .dublinTitle)
        item.episode = texts.number(of: .episode, .podcastEpisode)
        item.season = texts.number(of: .season)
        item.guid = texts.first(of: [.guid]) { text, _ in text } ?? about
        item.published = texts.date(of: .published, .updated)
        let duration = texts.first(of: [.duration]) { text, _ in CatalogDuration.seconds(parsing: text) }
        item.duration = (duration ?? media.duration).flatMap { $0 > 0 ? $0 : nil }
        return item
    }
}

/// Texts and numbers of feeds.
enum FeedText {
    /// A name of more characters is none.
    private static let maxName = 1000

    /// - Returns: nil when nothing is left.
    static func name(_ text: String, isHTML: Bool) -> String? {
        let short = text.utf8.count <= maxName ? text : String(text.prefix(maxName))
        let name = CatalogText.name(isHTML ? HTMLText.plain(short) : short)
        if name.isEmpty { return nil }
        // Titles are broken into lines and indented as the document is.
        let hasGap = zip(name.utf8, name.utf8.dropFirst()).contains { $0 == 0x20 && $1 == 0x20 }
        return hasGap ? name.split(separator: " ").joined(separator: " ") : name
    }

    /// Bytes, whose digits may be grouped by blanks; nil for what is no size of a file.
    static func size(_ text: String?) -> Int64? {
        let digits = (text ?? "").filter { !$0.isWhitespace }
        return digits.utf8.allSatisfy(\.isDigit) ? FileSize.sensible(Int64(digits)) : nil
    }

    /// From 1 on; nil for what is no such number.
    static func number(_ text: String) -> Int? {
        guard text.utf8.count <= 7, text.utf8.allSatisfy(\.isDigit), let number = Int(text), number > 0
        else { return nil }
        return number
    }
}
