import BookModel

/// What one document of a feed says, each value as sane as it can be made.
struct FeedDocument {
    var title: String?
    var author: String?
    var summary: String?
    var language: String?
    /// An address, resolved.
    var cover: String?
    /// Where the feed goes on (RFC 5005, `rel="next"`), resolved.
    var next: String?
    /// The feed's new address (`itunes:new-feed-url`), resolved.
    var newAddress: String?
    /// Items with media, in the order of the document.
    var items: [FeedItem] = []
    /// Items that enclose nothing.
    var emptyItems = 0
    /// Texts that were cut, and tags that were left out, because they are too long.
    var oversizedElements = 0
    /// Whether the document was read to an end where it may end.
    var isWhole = false
    /// Whether there were more items than any feed has.
    var isBeyondCeiling = false
}

/// One item of a feed that has something to hear or to see.
struct FeedItem {
    var title: String?
    var guid: String?
    /// Seconds since 1970.
    var published: Double?
    /// Seconds.
    var duration: Double?
    var episode: Int?
    var season: Int?
    var rank: (season: Int, episode: Int) { (season ?? 0, episode ?? 0) }
    /// The address of a document of chapters, resolved.
    var chapters: String?
    /// Podlove Simple Chapters, which have no ends.
    var simpleChapters: [MediaInfo.Chapter] = []
    var media = FeedEnclosure()
}

/// A file that an item names.
struct FeedEnclosure {
    /// The file's address, resolved; nil when what the item names is nothing that can be fetched.
    var address: String?
    /// MIME type; nil for what is none.
    var type: String?
    /// Bytes.
    var length: Int64?
    var duration: Double?
    /// Whether it is from `media:content`, which counts less than `enclosure`.
    var isMediaContent = false

    /// What `media:content` says it is: `audio`, `image`, ….
    var medium: String?

    enum Kind: Int {
        /// By its type.
        case audio = 0
        /// By the end of its name, whatever its type says: types are often wrong.
        case audioName
        /// It may be anything, and be it audio.
        case unknown
        /// By its type, or a film by its name.
        case other
        /// By its name: a picture, a document.
        case document
    }

    var kind: Kind {
        if type?.utf8.starts(with: "audio/".utf8) == true { return .audio }
        let type = type?.lowercased() ?? ""
        if type.hasPrefix("audio") || type.hasPrefix("x-audio") || type == "application/ogg" || medium == "audio" {
            return .audio
        }
        let ending = address.map(FeedAddress.fileExtension) ?? ""
        if FeedAddress.audioExtensions.contains(ending) { return .audioName }
        if FeedAddress.documentExtensions.contains(ending) || medium == "image" || medium == "document" {
            return .document
        }
        let saysNothing = type.isEmpty || type == "application/octet-stream"
        return saysNothing && medium == nil && !FeedAddress.filmExtensions.contains(ending) ? .unknown : .other
    }
}
