import BookModel

/// Puts a feed together from its elements.
///
/// It is told of them in the document's order, looks for what it knows where that may stand, and overlooks everything else: RSS of all versions and Atom differ
/// in the names only.
struct FeedBuilder: XMLHandler {
    /// Bytes of the text of an element; what is beyond is cut off.
    static let maxText = 1 << 20
    private static let maxEnclosures = 64

    private(set) var document = FeedDocument()
    /// The first element's name, as far as it is known here.
    private(set) var root: FeedElement?
    /// Whether anything was seen that only feeds have.
    private(set) var isFeed = false

    /// Whether the document is Atom, be it without its namespace.
    private var isAtom = false
    /// The elements that are open, the innermost last.
    private var path: [FeedElement] = []
    /// Addresses that relative ones are relative to, with the depth of the element that says so.
    private var bases: [(depth: Int, address: String)] = []
    private var item: FeedItemDraft?
    private var itemDepth = 0
    /// The element whose text is collected; nil when there is none.
    private var collected: FeedElement?
    private var collectedDepth = 0
    private var isHTML = false
    private var buffer: [UInt8] = []
    private var isCut = false
    private var head = FeedTexts()
    private var link: String?
    private var selfAddress: String?
    private var itunesImage: String?
    private var image: String?
    private var icon: String?

    /// - Parameter base: where the document came from.
    init(base: String?) {
        if let base { bases.append((0, base)) }
        buffer.reserveCapacity(4096)
    }

    // MARK: Events

    mutating func element(_ name: XMLName) -> UInt8 {
        if root == nil, name.local.lowercased() == "feed" { isAtom = true }
        return FeedElement(name, isAtom: isAtom).rawValue
    }

    func attribute(_ name: XMLName) -> UInt8 { FeedAttribute(name).rawValue }

    mutating func startElement(_ number: UInt8, _ attributes: XMLAttributes) {
        let element = FeedElement(rawValue: number) ?? .other
        let parent = path.last ?? .other
        path.append(element)
        if path.count == 1, root == nil { root = element }
        let fields: [FeedAttribute: String] = attributes.values()
        if let base = fields[.base], let address = CatalogAddress.resolve(text: base, against: bases.last?.address) {
            bases.append((path.count, address))
        }
        switch element {
        case .other: return
        case .rss, .rdf, .feed, .channel: isFeed = true
        case .item: startItem(fields)
        case _ where collected == nil:
            if item != nil, isWithinItem(parent) {
                startInItem(element, fields)
            } else if item == nil {
                startInHead(element, parent: parent, fields)
            }
        default: break
        }
    }

    mutating func text(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard collected != nil else { return }
        let room = Self.maxText - buffer.count
        if bytes.count <= room {
            buffer.append(contentsOf: bytes)
        } else {
            buffer.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[..<room]))
            isCut = true
        }
    }

    mutating func endElement() {
        if let element = collected, collectedDepth == path.count { finishText(of: element) }
        if item != nil, itemDepth == path.count { finishItem() }
        if let base = bases.last, base.depth == path.count, base.depth > 0 { bases.removeLast() }
        if !path.isEmpty { path.removeLast() }
    }

    /// - Parameter isWhole: whether the markup ended where it may.
    func finished(isWhole: Bool, skippedTags: Int) -> FeedDocument {
        var document = document
        // An item whose end is missing may be missing anything.
        document.isWhole = isWhole && item == nil
        document.oversizedElements += skippedTags
        document.title = head.name(of: .title, .dublinTitle)
        document.language = head.first(of: [.language]) { text, _ in CatalogText.language(text) }
        document.author = head.name(of: .itunesAuthor, .creator, .personName)
        document.summary = head.paragraph(of: .description, .summary, .subtitle)
        document.cover = itunesImage ?? image ?? icon
        return document
    }

    // MARK: Items

    private mutating func startItem(_ fields: [FeedAttribute: String]) {
        isFeed = true
        collected = nil
        // The end of the one before is missing.
        if item != nil { finishItem() }
        item = FeedItemDraft()
        item?.about = fields[.about]
        itemDepth = path.count
    }

    private func isWithinItem(_ parent: FeedElement) -> Bool {
        switch parent {
        case .item, .mediaGroup, .mediaContent, .simpleChapters: true
        default: false
        }
    }

    private mutating func startInItem(_ element: FeedElement, _ fields: [FeedAttribute: String]) {
        switch element {
        case .title, .itunesTitle, .guid, .published, .updated, .duration, .episode, .season,
            .podcastEpisode, .dublinTitle:
            collect(element, fields)
        case .enclosure, .mediaContent:
            enclose(fields[.url] ?? fields[.href], fields, isMedia: element == .mediaContent)
        case .atomLink where fields[.relation]?.lowercased() == "enclosure":
            enclose(fields[.href], fields, isMedia: false)
        case .chapters:
            if item?.item.chapters == nil, let address = resolve(fields[.url]) { item?.item.chapters = address }
        case .simpleChapter: item?.take(chapterAt: fields.seconds(.start), fields[.title])
        default: break
        }
    }

    private mutating func enclose(_ address: String?, _ fields: [FeedAttribute: String], isMedia: Bool) {
        guard let address, let count = item?.enclosures.count, count < Self.maxEnclosures,
            !CatalogText.trimmed(address).isEmpty
        else { return }
        let enclosure = FeedEnclosure(
            address: resolve(address), type: fields[.type].flatMap { $0.utf8.contains(UInt8(ascii: "/")) ? $0 : nil },
            length: FeedText.size(fields[.length]) ?? FeedText.size(fields[.fileSize]),
            duration: fields.seconds(.duration),
            isMediaContent: isMedia, medium: fields[.medium]?.lowercased())
        item?.enclosures.append(enclosure)
    }

    private func resolve(_ text: String?) -> String? {
        text.flatMap { CatalogAddress.resolve(text: $0, against: bases.last?.address ?? selfAddress ?? link) }
    }

    private mutating func finishItem() {
        guard let draft = item else { return }
        item = nil
        guard let finished = draft.finished() else {
            document.emptyItems += 1
            return
        }
        if document.items.count < CatalogContents.maxEpisodes {
            document.items.append(finished)
        } else {
            document.isBeyondCeiling = true
        }
    }

    // MARK: The feed itself

    private mutating func startInHead(_ element: FeedElement, parent: FeedElement, _ fields: [FeedAttribute: String]) {
        switch (parent, element) {
        case (.channel, .title), (.feed, .title), (.channel, .description), (.feed, .description), (.channel, .summary),
            (.feed, .summary), (.channel, .subtitle), (.channel, .link), (.channel, .itunesAuthor),
            (.feed, .itunesAuthor), (.channel, .creator), (.feed, .creator), (.channel, .dublinTitle),
            (.channel, .language), (.feed, .language), (.channel, .newAddress), (.feed, .newAddress),
            (.author, .personName),
            (.image, .imageAddress), (.feed, .logo), (.feed, .icon):
            collect(element, fields)
        case (.channel, .atomLink), (.feed, .atomLink):
            switch fields[.relation]?.lowercased() ?? "alternate" {
            case "next": if document.next == nil { document.next = resolve(fields[.href]) }
            case "self": selfAddress = selfAddress ?? CatalogAddress.resolve(text: fields[.href] ?? "", against: nil)
            case "alternate": link = link ?? CatalogAddress.resolve(text: fields[.href] ?? "", against: nil)
            default: break
            }
        case (.channel, .itunesImage), (.feed, .itunesImage):
            itunesImage = itunesImage ?? resolve(fields[.href] ?? fields[.url])
        case (.channel, .mediaThumbnail), (.feed, .mediaThumbnail): icon = icon ?? resolve(fields[.url])
        default: break
        }
    }

    // MARK: Text

    private mutating func collect(_ element: FeedElement, _ fields: [FeedAttribute: String]) {
        collected = element
        collectedDepth = path.count
        isHTML = fields[.type]?.lowercased().contains("html") == true
        isCut = false
        buffer.removeAll(keepingCapacity: true)
    }

    private mutating func finishText(of element: FeedElement) {
        collected = nil
        if isCut { document.oversizedElements += 1 }
        // Without white space around it.
        guard let first = buffer.firstIndex(where: { $0 > 0x20 }), let last = buffer.lastIndex(where: { $0 > 0x20 })
        else { return }
        let text = buffer.withUnsafeBufferPointer { String(decoding: $0[first...last], as: UTF8.self) }
        if item != nil {
            item?.texts.add(text, of: element, isHTML: isHTML)
        } else {
            switch element {
            case .imageAddress, .logo: image = image ?? resolve(text)
            case .icon: icon = icon ?? resolve(text)
            case .link: link = link ?? CatalogAddress.resolve(text: text, against: nil)
            case .newAddress:
                document.newAddress = document.newAddress ?? CatalogAddress.resolve(text: text, against: nil)
            default: head.add(text, of: element, isHTML: isHTML)
            }
        }
    }
}

extension [FeedAttribute: String] {
    fileprivate func seconds(_ attribute: FeedAttribute) -> Double? {
        self[attribute].flatMap { CatalogDuration.seconds(parsing: $0) }
    }
}
