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
        let prefix = name.prefix?.lowercased()
        let byPrefix = prefix.flatMap { Self.prefixes[$0] }
        let found: FeedNamespace?
        if let address = name.namespace?.lowercased(), !address.isEmpty {
            let byAddress = Self.addresses.first { address.contains($0.part) }?.namespace
            let isRSS = address.contains("rss") && !address.contains("module")
            found = byAddress ?? (isRSS ? .core : byPrefix)
        } else {
            found = prefix == nil ? .core : byPrefix
        }
        guard let found else { return nil }
        self = found
    }

    /// What the addresses of each have in common.
    private static let addresses: [(part: String, namespace: FeedNamespace)] = [
        ("w3.org/2005/atom", .atom), ("purl.org/atom", .atom), ("itunes.com/dtds", .itunes),
        ("dtds/podcast-1.0.dtd", .itunes), ("search.yahoo.com/mrss", .media), ("podcastindex.org/namespace", .podcast),
        ("podcast-namespace", .podcast), ("podlove.org/simple-chapters", .podlove), ("purl.org/dc/", .dublinCore),
        ("22-rdf-syntax-ns", .rdf), ("1999/xhtml", .html), ("netscape.com/rdf", .core),
    ]

    private static let prefixes: [String: FeedNamespace] = [
        "itunes": .itunes, "media": .media, "podcast": .podcast, "psc": .podlove, "atom": .atom, "dc": .dublinCore,
        "dcterms": .dublinCore, "rdf": .rdf,
    ]
}
