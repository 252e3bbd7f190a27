import BookModel
import Crypto
import Foundation

/// The episodes of a feed, collected over its pages, with the identity and the number that each has.
///
/// **Identity**, in this order: the guid; where several items share one guid, or have none, the address of the audio;
/// failing that, title and date; each without what changes of it, while that is unique. An item with an address that
/// was listed before is a repetition and left out, unless it has a guid, and another title or date.
///
/// **Numbers**: `itunes:episode` where most items have one and no two the same; by season where the numbers start again in
/// each; then the numbers that nearly all titles carry (``NumbersInNames/positions(in:)``); else by place. Most feeds list
/// the newest first, serials too (`itunes:type`), and then the oldest is 1; a feed without dates (LibriVox's) or with the
/// oldest first is in its order already.
///
/// Both are proposals: what the store knows of the book decides.
struct FeedListing {
    private var entries: [FeedItem] = []
    private var first: FeedDocument?
    private var seen: Set<String> = []
    private var emptyItems = 0
    private var repeated = 0
    private var oversized = 0
    private var isWhole = true
    private let maxEpisodes: Int
    /// Whether there are more items than are read.
    private(set) var isBeyondCeiling = false
    private(set) var pages = 0
    /// What else is to be told, and makes the listing incomplete.
    var troubles: [Message] = []

    init(maxEpisodes: Int = CatalogContents.maxEpisodes) {
        self.maxEpisodes = maxEpisodes
    }

    /// - Returns: how many items were not listed before.
    mutating func add(_ document: FeedDocument) -> Int {
        pages += 1
        let before = entries.count
        for item in document.items {
            let own = "\(item.title ?? "")\n\(item.published ?? 0)"
            let mark = item.media.address.map { item.guid == nil ? $0 : "\($0)\n\(own)" }
            guard seen.insert(mark ?? "\(item.guid ?? "")\n\(own)").inserted else {
                repeated += 1
                continue
            }
            guard entries.count < maxEpisodes else {
                isBeyondCeiling = true
                break
            }
            entries.append(item)
        }
        emptyItems += document.emptyItems
        oversized += document.oversizedElements
        isWhole = isWhole && document.isWhole
        isBeyondCeiling = isBeyondCeiling || document.isBeyondCeiling
        if first == nil {
            var head = document
            head.items = []
            first = head
        }
        return entries.count - before
    }

    /// Items that are listed: those with audio; where a feed has none at all, what else it encloses, because types are
    /// often wrong, but for pictures and documents.
    private var listed: [FeedItem] {
        let audio = entries.filter { $0.media.kind.rawValue < FeedEnclosure.Kind.other.rawValue }
        return audio.isEmpty ? entries.filter { $0.media.kind == .other } : audio
    }

    /// The episodes in the order of the feed, and what is told of them.
    func contents(as book: BookIdentity) -> CatalogContents {
        let listed = listed
        let episodes = episodes(of: listed, in: book)
        return CatalogContents(identity: book, episodes: episodes, listing: listing(of: listed))
    }

    private func episodes(of listed: [FeedItem], in book: BookIdentity) -> [Episode] {
        let keys = Self.keys(of: listed)
        let sections = Self.sections(of: listed)
        return listed.indices.map { index in
            Self.episode(listed[index], keys[index], sections[index], book: book)
        }
    }

    private func listing(of listed: [FeedItem]) -> CatalogListing {
        let count = listed.count
        let head = first ?? FeedDocument()
        let description = BookDescription(
            title: head.title, author: head.author, summary: head.summary, language: head.language,
            cover: head.cover.map { ResourceAddress($0) }
        )
        let isComplete = isWhole && !isBeyondCeiling && troubles.isEmpty
        let proof = ListingProof(
            declared: nil, collected: count, isComplete: isComplete, warnings: warnings(of: listed))
        let names = head.title == nil ? listed.prefix(TitleInference.sampleSize).compactMap(\.title) : []
        return CatalogListing(proof: proof, description: description, inferredTitle: TitleInference.title(from: names))
    }

    private func warnings(of listed: [FeedItem]) -> [Message] {
        var warnings: [Message] = []
        func tell(_ count: Int, _ sentence: (Message) -> Message) {
            if count > 0 { warnings.append(sentence(Message(count, "item"))) }
        }
        if listed.isEmpty { warnings.append("the feed lists no episodes") }
        tell(emptyItems) { "\($0) without a file: left out" }
        tell(repeated) { "\($0) listed a second time: the first of each is kept" }
        tell(entries.count - listed.count) { "\($0) with something else than audio: left out" }
        if listed.first?.media.kind == .other {
            warnings.append("the feed declares none of its files as audio: what is left of them is listed")
        }
        tell(listed.count { $0.media.address == nil }) { "\($0) with an address that cannot be fetched" }
        if oversized > 0 {
            warnings.append("texts or tags above 1 MB: \(oversized), cut off or left out")
        }
        if isBeyondCeiling {
            warnings.append("the feed has more than \(maxEpisodes) items: the rest is left out")
        }
        if !isWhole { warnings.append("the feed ends in the middle: the listing counts as incomplete") }
        return warnings + troubles
    }

    // MARK: Identity

    /// What an item is known by: `raw` is all that the feed says, `key` is without what changes of it. Where two have one
    /// such key, theirs are the raw ones.
    private static func keys(of items: [FeedItem]) -> [(key: String, raw: String)] {
        let guids = Dictionary(items.lazy.compactMap { $0.guid.map { ($0, 1) } }, uniquingKeysWith: +)
        func guid(of item: FeedItem) -> String? { item.guid.flatMap { guids[$0] == 1 ? $0 : nil } }
        // Two files that only the query tells apart are two files.
        let names = items.map { item -> String? in
            guid(of: item) == nil ? item.media.address.map { FeedAddress.normalised($0, keepsQuery: false) } : nil
        }
        let files = Dictionary(names.lazy.compactMap { $0.map { ($0, 1) } }, uniquingKeysWith: +)
        let keys = zip(items, names).map { item, name -> (key: String, raw: String) in
            if let guid = guid(of: item) { return (guidKey(guid), isFit(guid) ? guid : "raw-" + hash("guid\n" + guid)) }
            if let name, let address = item.media.address {
                let file = files[name] == 1 ? name : FeedAddress.normalised(address, keepsQuery: true)
                return ("file-" + hash(file), "raw-" + hash("file\n" + address))
            }
            let title = "\(item.title ?? "")\n\(item.published ?? 0)"
            return ("item-" + hash(title), "raw-" + hash("item\n\(item.guid ?? "")\n\(title)"))
        }
        let counts = Dictionary(keys.lazy.map { ($0.key, 1) }, uniquingKeysWith: +)
        return keys.map { (counts[$0.key] == 1 ? $0.key : $0.raw, $0.raw) }
    }

    /// A guid that is an address may have parts that change or are secret.
    private static func guidKey(_ guid: String) -> String {
        guard isFit(guid) else {
            let text = FeedAddress.mayHoldSecrets(guid) ? FeedAddress.normalised(guid, keepsQuery: true) : guid
            return "guid-" + hash(text)
        }
        // A site that moves to HTTPS takes its guids along.
        for scheme in ["https:", "http:"] where guid.hasPrefix(scheme + "//") {
            return String(guid.dropFirst(scheme.count))
        }
        return guid
    }

    /// Whether a guid may stand as it is: it holds no secret, and is not too long to be carried about.
    private static func isFit(_ guid: String) -> Bool {
        !FeedAddress.mayHoldSecrets(guid) && guid.utf8.count <= 200
    }

    private static func hash(_ text: String) -> String {
        String(SHA256.hash(data: Data(text.utf8)).hexadecimal.prefix(32))
    }

    // MARK: Numbers

    private static func sections(of items: [FeedItem]) -> [(section: Int, numbering: Episode.Numbering)] {
        let numbers = items.compactMap(\.episode)
        // A trailer among them gets none that an episode may claim: those begin with 1.
        var sections: [(section: Int, numbering: Episode.Numbering)] = items.map { item in
            item.episode.map { ($0, .stated) } ?? (0, .unnumbered)
        }
        if numbers.count * 2 > items.count {
            if Set(numbers).count == numbers.count { return sections }
            let ranked = items.indices.filter { items[$0].episode != nil }.sorted { items[$0].rank < items[$1].rank }
            if zip(ranked, ranked.dropFirst()).allSatisfy({ items[$0].rank < items[$1].rank }) {
                for (place, index) in ranked.enumerated() { sections[index] = (place + 1, .place) }
                return sections
            }
        }
        if let stated = NumbersInNames.numbering(of: items.map { $0.title ?? "" }) {
            return stated.map { ($0.number, $0.isOwn ? .stated : $0.number > 0 ? .place : .unnumbered) }
        }
        let dates = items.compactMap(\.published)
        let steps = zip(dates, dates.dropFirst())
        let falling = steps.count { $0 > $1 }
        let rising = steps.count { $0 < $1 }
        let isNewestFirst = falling > rising
        return items.indices.map { (isNewestFirst ? items.count - $0 : $0 + 1, .place) }
    }

    // MARK: Episodes

    private static func episode(
        _ item: FeedItem, _ keys: (key: String, raw: String), _ number: (section: Int, numbering: Episode.Numbering),
        book: BookIdentity
    ) -> Episode {
        let media = item.media
        let name = item.title ?? media.address.flatMap(FeedAddress.fileName) ?? "Episode \(number.section)"
        return Episode(
            identity: EpisodeIdentity(book: book, key: keys.key), rawKey: keys.raw, section: number.section,
            numbering: number.numbering, name: name,
            address: media.address.map { ResourceAddress($0) }, size: media.length, duration: item.duration,
            publishedAt: item.published.map { Date(timeIntervalSince1970: $0) }, mediaType: media.type,
            guid: item.guid.map(shown), number: item.episode, season: item.season,
            chapters: CatalogChapters.list(of: item.simpleChapters),
            chaptersAddress: item.chapters.map { ResourceAddress($0) }.flatMap { $0.holdsSecrets ? nil : $0 })
    }

    private static func shown(_ guid: String) -> String {
        FeedAddress.mayHoldSecrets(guid) ? FeedAddress.shown(guid) : guid
    }
}

extension CatalogContents {
    /// A book whose files are told of as the items of a feed are.
    init(_ identity: BookIdentity, _ description: BookDescription, items: [FeedItem]) {
        var listing = FeedListing()
        _ = listing.add(FeedDocument(items: items, isWhole: true))
        self = listing.contents(as: identity)
        self.listing.description = description
    }
}
