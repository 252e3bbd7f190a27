import BookModel
import Foundation

/// An item while it is read.
struct FeedItemDraft {
    var item = FeedItem()
    var enclosures: [FeedEnclosure] = []
    /// RSS 1.0's identity of an item.
    var about: String?
    private var title: String?
    private var itunesTitle: String?
    private var dublinTitle: String?
    private var podcastEpisode: Int?
    private var updated: Double?

    /// A name of more characters is none.
    static let maxName = 1000

    /// Of two elements of one name the first counts.
    mutating func take(_ element: FeedElement, _ text: String, isHTML: Bool) {
        switch element {
        case .title: title = title ?? FeedText.name(text, isHTML: isHTML)
        case .itunesTitle: itunesTitle = itunesTitle ?? FeedText.name(text, isHTML: isHTML)
        case .dublinTitle: dublinTitle = dublinTitle ?? FeedText.name(text, isHTML: isHTML)
        case .podcastEpisode: podcastEpisode = podcastEpisode ?? FeedText.number(text)
        case .guid: item.guid = item.guid ?? text
        case .published: item.published = item.published ?? CatalogDate.seconds(parsing: text)
        case .updated: updated = updated ?? CatalogDate.seconds(parsing: text)
        case .duration: item.duration = item.duration ?? CatalogDuration.seconds(parsing: text)
        case .episode: item.episode = item.episode ?? FeedText.number(text)
        case .season: item.season = item.season ?? FeedText.number(text)
        default: break
        }
    }

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
        item.title = title ?? itunesTitle ?? dublinTitle
        item.episode = item.episode ?? podcastEpisode
        item.guid = item.guid ?? about
        item.published = item.published ?? updated
        item.duration = (item.duration ?? media.duration).flatMap { $0 > 0 ? $0 : nil }
        return item
    }
}

/// What a feed says of itself, while it is read.
struct FeedHeadDraft {
    var link: String?
    var selfAddress: String?
    var itunesImage: String?
    var image: String?
    var icon: String?
    private var title: String?
    private var dublinTitle: String?
    private var language: String?
    private var description: String?
    private var summary: String?
    private var subtitle: String?
    private var itunesAuthor: String?
    private var creator: String?
    private var personName: String?

    /// What addresses are relative to when nobody says where the document came from.
    var ownAddress: String? { selfAddress ?? link }

    mutating func take(_ element: FeedElement, _ text: String, isHTML: Bool) {
        switch element {
        case .title: title = title ?? FeedText.name(text, isHTML: isHTML)
        case .dublinTitle: dublinTitle = dublinTitle ?? FeedText.name(text, isHTML: isHTML)
        case .language: language = language ?? CatalogText.language(text)
        case .description: description = description ?? FeedText.paragraph(text)
        case .summary: summary = summary ?? FeedText.paragraph(text)
        case .subtitle: subtitle = subtitle ?? FeedText.paragraph(text)
        case .itunesAuthor: itunesAuthor = itunesAuthor ?? FeedText.name(text, isHTML: false)
        case .creator: creator = creator ?? FeedText.name(text, isHTML: false)
        case .personName: personName = personName ?? FeedText.name(text, isHTML: false)
        default: break
        }
    }

    func describe(_ document: inout FeedDocument) {
        document.title = title ?? dublinTitle
        document.language = language
        document.author = itunesAuthor ?? creator ?? personName
        document.summary = description ?? summary ?? subtitle
        document.cover = itunesImage ?? image ?? icon
    }
}

/// Texts and numbers of feeds.
enum FeedText {
    /// - Returns: nil when nothing is left.
    static func name(_ text: String, isHTML: Bool) -> String? {
        let short =
            text.utf8.count <= FeedItemDraft.maxName ? text : String(text.prefix(FeedItemDraft.maxName))
        let name = CatalogText.name(isHTML ? HTMLText.plain(short) : short)
        if name.isEmpty { return nil }
        // Titles are broken into lines and indented as the document is.
        let hasGap = zip(name.utf8, name.utf8.dropFirst()).contains { $0 == 0x20 && $1 == 0x20 }
        return hasGap ? name.split(separator: " ").joined(separator: " ") : name
    }

    /// - Returns: nil when nothing is left.
    static func paragraph(_ text: String) -> String? {
        let paragraph = HTMLText.plain(text)
        return paragraph.isEmpty ? nil : paragraph
    }

    /// From 1 on; nil for what is no such number.
    static func number(_ text: String) -> Int? {
        guard text.utf8.count <= 7, text.utf8.allSatisfy(\.isDigit), let number = Int(text), number > 0
        else { return nil }
        return number
    }
}
