import BookModel

extension FeedSettings: CatalogFormat {
    /// A feed may have any address.
    package static func bookID(in address: ResourceAddress) -> String? { nil }

    package static func bookID(in answer: CatalogResponse) -> String? {
        guard FeedReader.recognises(answer.bytes) else { return nil }
        return answer.lastingAddress.map(bookID(of:)) ?? savedID
    }

    package func read(_ answer: CatalogResponse, source: String, id: String?) throws -> CatalogContents {
        let identity = BookIdentity(
            source: source, id: id ?? answer.lastingAddress.map(Self.bookID(of:)) ?? Self.savedID)
        let charset = answer.contentType.flatMap(Encoding.charset)
        switch FeedReader.read(answer.bytes, charset: charset, base: answer.address?.secretText) {
        case .foreign(let why, _):
            throw Failure(
                .unreadableCatalog, what: "the saved answer cannot be read as a feed", why: why,
                remedy: "name the file of an RSS or Atom feed")
        case .feed(let document):
            var listing = FeedListing()
            _ = listing.add(document)
            if document.next != nil {
                listing.troubles.append("the feed has more pages, which were not saved")
            }
            return listing.contents(as: identity)
        }
    }

    package func source(over client: CatalogClient) -> any CatalogSource {
        FeedSource(settings: self, client: client)
    }
}
