import BookModel

/// What is configured of an Audiobookshelf server. Its books are named by the ids of its library items.
package struct AudiobookshelfSettings: Sendable {
    /// Where `/api/items/ID` is found. Without user and query: files lie below it, and their addresses are stored.
    let address: ResourceAddress
    /// For the server alone.
    let credentials: CatalogCredentials

    package init(address: ResourceAddress, credentials: CatalogCredentials = .init()) {
        self.address = ResourceAddress(String(address.withoutSecrets.prefix { $0 != "?" }))
        self.credentials = credentials
    }

    /// Answers whoever is let in.
    package var librariesAddress: ResourceAddress { address("libraries") }

    /// - Parameter path: below `/api`, segment by segment.
    func address(_ path: String...) -> ResourceAddress {
        address.appending(path: (["api"] + path).map { AddressPath.encoded($0) }.joined(separator: "/"))
    }
}

extension AudiobookshelfSettings: CatalogFormat {
    /// Of an item on the server's web page, or in its API.
    package static func bookID(in address: ResourceAddress) -> String? {
        let segments = address.pathText.split(separator: "/").suffix(2).map { AddressPath.name($0) }
        return segments.count == 2 && ["item", "items"].contains(segments[0]) ? segments[1] : nil
    }

    package static func bookID(in answer: CatalogResponse) -> String? {
        answer.object.flatMap { $0["libraryId"] == nil ? nil : AudiobookshelfItem($0)?.id }
    }

    package func read(_ answer: CatalogResponse, source: String, id: String?) throws -> CatalogContents {
        let identity = BookIdentity(source: source, id: id ?? Self.bookID(in: answer) ?? Self.savedID)
        let subject = ErrorContext(book: identity, part: "the item")
        return try AudiobookshelfItem.contents(of: try answer.json(for: subject), as: identity, at: self, for: subject)
    }

    package func source(over client: CatalogClient) -> any CatalogSource {
        AudiobookshelfSource(settings: self, client: client)
    }
}
