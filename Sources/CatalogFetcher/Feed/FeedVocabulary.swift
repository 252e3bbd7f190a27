/// The elements that a feed is read from; all others are ``other``.
enum FeedElement: UInt8 {
    case other = 0
    case rss, rdf, channel, feed, html, item
    case title, link, atomLink, guid, description, summary, subtitle
    case published, updated
    case enclosure, mediaGroup, mediaContent, mediaThumbnail
    case author, itunesAuthor, personName, creator
    case image, imageAddress, itunesImage, logo, icon
    case itunesTitle, duration, episode, season
    case chapters, simpleChapters, simpleChapter
    case podcastEpisode, dublinTitle, language, newAddress

    /// What feeds are made of, by namespace and lower-case name.
    /// - Parameter isAtom: whether names without a namespace are Atom's.
    init(_ name: XMLName, isAtom: Bool = false) {
        let local = name.local.lowercased()
        var namespace = FeedNamespace(name)
        if isAtom, namespace == .core { namespace = .atom }
        self = namespace.flatMap { Self.elements[$0]?[local] } ?? .other
    }

    private static let elements: [FeedNamespace: [String: FeedElement]] = [
        .core: [
            "rss": .rss, "channel": .channel, "feed": .feed, "html": .html, "item": .item, "entry": .item,
            "title": .title, "link": .link, "guid": .guid, "description": .description, "pubdate": .published,
            "enclosure": .enclosure, "author": .author, "image": .image, "url": .imageAddress,
            "rdf": .rdf, "language": .language,
        ],
        .atom: [
            "feed": .feed, "entry": .item, "title": .title, "link": .atomLink, "id": .guid, "summary": .summary,
            "subtitle": .description, "tagline": .description, "published": .published, "issued": .published,
            "updated": .updated, "modified": .updated, "author": .author, "name": .personName, "logo": .logo,
            "icon": .icon,
        ],
        .rdf: ["rdf": .rdf],
        .itunes: [
            "title": .itunesTitle, "author": .itunesAuthor, "summary": .summary, "subtitle": .subtitle,
            "image": .itunesImage, "duration": .duration, "episode": .episode, "season": .season,
            "new-feed-url": .newAddress,
        ],
        .media: ["group": .mediaGroup, "content": .mediaContent, "thumbnail": .mediaThumbnail],
        .podcast: ["chapters": .chapters, "episode": .podcastEpisode, "season": .season],
        .podlove: ["chapters": .simpleChapters, "chapter": .simpleChapter],
        .dublinCore: ["creator": .creator, "date": .updated, "title": .dublinTitle, "language": .language],
        .html: ["html": .html],
    ]
}

/// The attributes that a feed is read from.
enum FeedAttribute: UInt8 {
    case other = 0
    case url, href, type, length, fileSize, relation, base, duration, about, medium, start, title

    init(_ name: XMLName) {
        switch (name.prefix ?? "", name.local.lowercased()) {
        case ("xml", "base"): self = .base
        case (_, "url"): self = .url
        case (_, "href"): self = .href
        case ("", "type"): self = .type
        case ("", "length"): self = .length
        case ("", "filesize"): self = .fileSize
        case ("", "rel"): self = .relation
        case ("", "duration"): self = .duration
        case ("", "medium"): self = .medium
        case ("", "start"): self = .start
        case ("", "title"): self = .title
        case (_, "about"): self = .about
        default: self = .other
        }
    }
}

enum FeedNamespace {
    case core, atom, rdf, itunes, media, podcast, podlove, dublinCore, html

    /// By the address, which is written in many ways; where that says nothing, by the prefix.
    init?(_ name: XMLName) {
        guard let address = name.namespace?.lowercased(), !address.isEmpty else {
            guard let prefix = name.prefix?.lowercased() else {
                self = .core
                return
            }
            self.init(prefix: prefix)
            return
        }
        if address.contains("w3.org/2005/atom") || address.contains("purl.org/atom") {
            self = .atom
        } else if address.contains("itunes.com/dtds") || address.hasSuffix("dtds/podcast-1.0.dtd") {
            self = .itunes
        } else if address.contains("search.yahoo.com/mrss") || address.contains("tools.search.yahoo.com/mrss") {
            self = .media
        } else if address.contains("podcastindex.org/namespace") || address.contains("podcast-namespace") {
            self = .podcast
        } else if address.contains("podlove.org/simple-chapters") {
            self = .podlove
        } else if address.contains("purl.org/dc/") {
            self = .dublinCore
        } else if address.contains("22-rdf-syntax-ns") {
            self = .rdf
        } else if address.contains("1999/xhtml") {
            self = .html
        } else if address.contains("rss") && !address.contains("module") || address.contains("netscape.com/rdf") {
            self = .core
        } else if let prefix = name.prefix?.lowercased() {
            self.init(prefix: prefix)
        } else {
            return nil
        }
    }

    private init?(prefix: String) {
        switch prefix {
        case "itunes": self = .itunes
        case "media": self = .media
        case "podcast": self = .podcast
        case "psc": self = .podlove
        case "atom": self = .atom
        case "dc", "dcterms": self = .dublinCore
        case "rdf": self = .rdf
        default: return nil
        }
    }
}
