import BookModel

/// A link of a feed or a publication, or a file of a manifest.
struct OPDSLink {
    /// An object, or the address alone.
    private let value: JSONValue
    /// As written: it may be a template, or point into a file.
    let href: String
    /// Without a fragment; nil for what cannot be fetched.
    let address: ResourceAddress?
    /// In lower case.
    let relations: Set<String>
    /// MIME type without parameters, in lower case.
    let type: String

    init(_ value: JSONValue, from base: ResourceAddress) {
        self.value = value
        href = value.string ?? (value["href"] ?? value["url"])?.string ?? ""
        address = CatalogAddress.resolve(String(href.prefix { $0 != "#" }), against: base)
        relations = Set(value["rel"]?.names().map { $0.lowercased() } ?? [])
        // The W3C's "type" is the kind of the object, without a slash.
        let types = ["encodingFormat", "type"].compactMap { value[$0]?.string }
        type = (types.first { $0.contains("/") } ?? "").prefix { $0 != ";" }.lowercased()
    }

    static func all(_ list: JSONValue?, from base: ResourceAddress) -> [OPDSLink] {
        list?.elements.map { OPDSLink($0, from: base) } ?? []
    }

    var isProtected: Bool { value["properties"]?["encrypted"] != nil || type.contains("lcp") }
    var isManifest: Bool { ["application/audiobook+json", "application/webpub+json"].contains(type) }
    /// Playlists are called audio, too.
    var isAudio: Bool { type.hasPrefix("audio/") && !type.hasSuffix("mpegurl") }

    static let acquisition = "http://opds-spec.org/acquisition"

    /// Whether it leads to the publication for everybody whom the catalog lets in: no loan, sale or sample.
    var isOpen: Bool {
        let open = [Self.acquisition, Self.acquisition + "/open-access"] + (isManifest ? ["self", "alternate"] : [])
        return !isProtected && !relations.isDisjoint(with: open)
    }

    /// The file that it leads to.
    var item: FeedItem {
        var item = FeedItem()
        item.title = (value["title"] ?? value["name"])?.names().first
        item.duration = value["duration"]?.text.flatMap(CatalogDuration.manifestSeconds)
        item.media = FeedEnclosure(
            address: address?.secretText, type: type.isEmpty ? nil : type,
            length: FileSize.sensible(value["size"]?.integer))
        return item
    }
}
