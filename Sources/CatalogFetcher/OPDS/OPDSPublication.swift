import BookModel

/// A publication as a feed, its own entry or its manifest (the W3C's or Readium's) describes it.
struct OPDSPublication {
    private let description: BookDescription
    private let seconds: Double?
    /// Nil where the catalog does not say what it is.
    private let isAudiobook: Bool?
    let links: [OPDSLink]
    /// The files in the order in which they are to be heard; nil for what is no manifest.
    private let readingOrder: [OPDSLink]?

    init(_ value: JSONValue, from base: ResourceAddress) {
        let metadata = value["metadata"] ?? value
        seconds = metadata["duration"]?.text.flatMap(CatalogDuration.manifestSeconds)
        isAudiobook = (metadata["@type"] ?? metadata["type"])?.names().contains { $0.hasSuffix("Audiobook") }
        links = OPDSLink.all(value["links"], from: base)
        readingOrder = value["readingOrder"].map { Self.files($0, from: base) }
        let covers = (links + OPDSLink.all(value["resources"], from: base)).filter {
            !$0.relations.isDisjoint(with: ["cover", "http://opds-spec.org/image"])
        }
        var description = BookDescription(metadata)
        description.cover = (covers + OPDSLink.all(value["images"], from: base)).first?.address
        self.description = description
    }

    /// Entries may stand within others.
    private static func files(_ value: JSONValue, from base: ResourceAddress) -> [OPDSLink] {
        if value.kind == .array { return value.elements.flatMap { files($0, from: base) } }
        return [OPDSLink(value, from: base)] + (value["children"].map { files($0, from: base) } ?? [])
    }

    /// Whether there is anything in it that only manifests and OPDS have.
    var isRecognised: Bool {
        readingOrder != nil || isAudiobook == true
            || links.contains { $0.relations.contains { $0.hasPrefix(OPDSLink.acquisition) } }
    }

    /// Where its manifest is, if it is none itself.
    var manifest: ResourceAddress? { readingOrder == nil ? links.first { $0.isManifest && $0.isOpen }?.address : nil }

    /// One file that is the whole book.
    private var file: OPDSLink? { links.first { $0.isAudio && $0.isOpen } }

    /// For a list of books; nil for what is no audiobook, is not open to everybody, or has no address of its own.
    func entry(in source: String) -> CatalogEntry? {
        let types = ["application/atom+xml", "application/opds-publication+json"]
        let own = links.first { types.contains($0.type) && !$0.relations.isDisjoint(with: ["self", "alternate"]) }
        guard isAudiobook != false, let address = manifest ?? file.flatMap({ _ in own?.address }) else { return nil }
        let id = FeedSettings.bookID(of: address)
        var entry = CatalogEntry(BookIdentity(source: source, id: id), description)
        entry.seconds = seconds
        if !FeedSettings.isWholeAddress(id) { entry.address = address }
        return entry
    }

    /// - Throws: ``Failure`` of kind `unknownBook` when there is nothing in it that can be fetched.
    func contents(as identity: BookIdentity, for subject: ErrorContext) throws -> CatalogContents {
        guard let order = readingOrder ?? file.map({ [$0] }), !order.contains(where: \.isProtected) else {
            throw subject.unknownBook(why: refusal)
        }
        let items = items(of: order)
        guard items.contains(where: { $0.media.kind.rawValue < FeedEnclosure.Kind.other.rawValue }) else {
            throw subject.unknownBook(why: "its manifest lists no audio files")
        }
        return CatalogContents(identity, description, items: items)
    }

    /// Each file once: entries that point into one file with a fragment are its chapters.
    private func items(of order: [OPDSLink]) -> [FeedItem] {
        var items: [FeedItem] = []
        var indices: [ResourceAddress: Int] = [:]
        for link in order where !link.href.isEmpty {
            let chapter = link.item
            if link.href.contains("#"), let index = link.address.flatMap({ indices[$0] }) {
                items[index].title = nil
                items[index].duration = items[index].duration.flatMap { sum in chapter.duration.map { sum + $0 } }
            } else {
                if let address = link.address { indices[address] = items.count }
                items.append(chapter)
            }
        }
        if items.count == 1 { items[0].title = items[0].title ?? description.title }
        return items
    }

    private var refusal: Message {
        if (readingOrder ?? links).contains(where: \.isProtected) {
            return "its files are protected (LCP), and booksync opens no protection"
        }
        let restricted = ["borrow", "buy", "subscribe"].map { OPDSLink.acquisition + "/" + $0 }
        return links.contains { !$0.relations.isDisjoint(with: restricted) }
            ? "the catalog lends or sells it, and offers no open file of it"
            : "it names no audiobook manifest and no audio file"
    }
}
