import BookModel

/// What is configured of an OPDS catalog (1.2 or 2.0) of audiobooks. Its books are named as feeds are: by the addresses
/// of their manifests, or of their entries in the catalog.
package struct OPDSSettings: Sendable {
    /// How the catalog is asked; its address is that of the catalog's first feed, which says where books are searched.
    package var feed: FeedSettings

    package init(_ feed: FeedSettings = FeedSettings()) { self.feed = feed }
}

extension OPDSSettings: CatalogFormat {
    /// Only the answer tells.
    package static func bookID(in address: ResourceAddress) -> String? { nil }

    /// Of a manifest, or of a publication's own entry.
    package static func bookID(in answer: CatalogResponse) -> String? {
        let subject = ErrorContext(book: BookIdentity(source: "", id: savedID), part: "")
        guard let document = try? OPDSDocument(answer, for: subject), document.isBook else { return nil }
        return answer.lastingAddress.map(FeedSettings.bookID(of:)) ?? savedID
    }

    package func read(_ answer: CatalogResponse, source: String, id: String?) throws -> CatalogContents {
        let identity = BookIdentity(
            source: source, id: id ?? answer.lastingAddress.map(FeedSettings.bookID(of:)) ?? Self.savedID)
        let subject = ErrorContext(book: identity, part: "the manifest")
        return try OPDSDocument(answer, for: subject).book(for: subject).contents(as: identity, for: subject)
    }

    package func source(over client: CatalogClient) -> any CatalogSource {
        OPDSSource(settings: self, client: client)
    }
}
