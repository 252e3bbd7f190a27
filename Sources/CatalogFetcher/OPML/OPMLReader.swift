import BookModel

/// Reads OPML as it is found: of any version, cut, with HTML's entities, attributes in any case.
package enum OPMLReader {
    /// Bytes that a list may have.
    package static let maxLength = 64 << 20

    /// - Parameters:
    ///   - bytes: of the whole document.
    ///   - name: what to call it where it cannot be read.
    /// - Throws: ``Failure`` of kind `unreadableCatalog` when it is no OPML.
    package static func read(_ bytes: [UInt8], from name: Message) throws -> OPMLDocument {
        let (outline, isWhole) = XMLReader.read(bytes, into: OutlineBuilder())
        guard outline.isOutline else {
            let beginning = CatalogText.quotation(bytes, length: 80)
            throw Failure(
                .unreadableCatalog, what: "\(name) cannot be read as OPML",
                why: beginning.isEmpty ? "it is empty" : "it begins with '\(beginning)'",
                remedy: "name a file that another program exported its subscriptions to")
        }
        var document = outline.document
        document.isWhole = isWhole
        return document
    }
}

/// Makes an ``OPMLDocument`` of the elements of one.
private struct OutlineBuilder: XMLHandler {
    /// Feeds, folders in each other, and folders of one feed that are kept.
    private enum Ceiling {
        static let feeds = 50_000
        static let depth = 16
        static let tags = 64
        /// Characters of a name.
        static let name = 300
    }

    private enum Element: UInt8 {
        case other = 1
        case opml, outline, title
    }

    private(set) var document = OPMLDocument()
    private(set) var isOutline = false
    /// The open elements, each with the folder that it is.
    private var open: [(element: Element, folder: String?)] = []
    private var headTitle: [UInt8] = []
    private var indices: [String: Int] = [:]

    func element(_ name: XMLName) -> UInt8 {
        let element: Element =
            switch name.local.lowercased() {
            case "opml": .opml
            case "outline": .outline
            case "title": .title
            default: .other
            }
        return element.rawValue
    }

    func attribute(_ name: XMLName) -> UInt8 { OutlineAttribute(name).rawValue }

    mutating func startElement(_ element: UInt8, _ attributes: XMLAttributes) {
        let element = Element(rawValue: element) ?? .other
        var folder: String?
        switch element {
        case .opml: isOutline = true
        case .outline: folder = read(OPMLAttributes(attributes))
        case .title, .other: break
        }
        open.append((element, folder))
    }

    mutating func text(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard open.last?.element == .title, headTitle.count < 4000 else { return }
        headTitle += bytes
    }

    mutating func endElement() {
        guard let ended = open.popLast() else { return }
        if ended.element == .title, document.title == nil {
            document.title = Self.name(String(decoding: headTitle, as: UTF8.self))
        }
    }

    /// - Returns: the folder that the outline is for those within it; nil when it is none.
    private mutating func read(_ outline: OPMLAttributes) -> String? {
        let title = Self.name(outline.text) ?? Self.name(outline.title)
        if let address = outline.feed {
            add(OPMLFeed(title: title, address: ResourceAddress(address), tags: tags(of: outline)), outline.booksync)
            return nil
        }
        if let booksync = outline.booksync {
            add(OPMLFeed(title: title, tags: tags(of: outline)), booksync)
            return nil
        }
        if let type = outline.type?.lowercased(), type == "include" || type == "link" {
            if let url = outline.url, document.lists.count < Ceiling.feeds {
                document.lists.append(OutlineLink(title: title, address: ResourceAddress(url)))
            }
            return nil
        }
        if let page = outline.page, document.pages.count < Ceiling.feeds {
            document.pages.append(OutlineLink(title: title, address: ResourceAddress(page)))
        }
        return title
    }

    private mutating func add(_ feed: OPMLFeed, _ booksync: Subscription?) {
        let key = booksync.map { "\($0.book)" } ?? feed.address?.secretText ?? ""
        guard let index = indices[key] else {
            guard document.feeds.count < Ceiling.feeds else {
                document.isBeyondCeiling = true
                return
            }
            indices[key] = document.feeds.count
            var feed = feed
            feed.booksync = booksync
            document.feeds.append(feed)
            return
        }
        let new = feed.tags.filter { !document.feeds[index].tags.contains($0) }
        if new.isEmpty { document.feeds[index].repeats += 1 }
        document.feeds[index].tags += new.prefix(max(0, Ceiling.tags - document.feeds[index].tags.count))
    }

    /// The folders that it lies in, and its categories: `tag,/folder/folder` (OPML 2.0, `category`).
    private func tags(of outline: OPMLAttributes) -> [SubscriptionTag] {
        let folders = open.compactMap(\.folder).prefix(Ceiling.depth)
        let categories = (outline.category ?? "").split(separator: ",").prefix(Ceiling.tags).map { category in
            category.split(separator: "/").compactMap { Self.name(String($0)) }.prefix(Ceiling.depth)
        }
        var tags: [SubscriptionTag] = []
        for path in [folders] + categories {
            if let tag = SubscriptionTag(path: Array(path)), !tags.contains(tag) { tags.append(tag) }
        }
        return tags
    }

    /// A name on one line; nil when nothing is left of it.
    private static func name(_ text: String?) -> String? {
        guard let text else { return nil }
        let name = CatalogText.cleaned(String(text.prefix(Ceiling.name * 4)), keepingLines: false)
        let words = name.split(whereSeparator: \.isNewline).joined(separator: " ")
        return words.isEmpty ? nil : String(words.prefix(Ceiling.name))
    }
}
