import BookModel
import Transport

/// Items of the Internet Archive, each a book.
package struct InternetArchiveSource: CatalogSource {
    let settings: InternetArchiveSettings
    let client: CatalogClient

    package func list(_ book: BookIdentity, onPage: PageHandler) async throws -> CatalogListing {
        let (contents, _) = try await contents(of: book.id, as: book)
        try await contents.deliver(to: onPage)
        return contents.listing
    }

    /// Asks for an item.
    ///
    /// - Parameter identity: the book that the item's audio belongs to.
    /// - Returns: what the item lists, and how many seconds the originals of its recordings play, by their keys.
    func contents(
        of item: String, as identity: BookIdentity
    ) async throws -> (CatalogContents, originalLengths: [String: Double]) {
        let subject = ErrorContext(book: identity, part: "the metadata of archive item \(item)")
        guard ArchiveAddress.isItem(item) else {
            throw ErrorContext(book: identity, part: "the metadata").unknownBook(
                why: "an archive item's identifier has letters, digits, '.', '_' and '-' only")
        }
        let (document, _) = try await client.fetchJSON(
            settings.credentials.request(settings.address.appending(path: "metadata/" + AddressPath.encoded(item))),
            for: subject, secrets: settings.credentials.secrets)
        let found = try ArchiveItem(document, for: subject)
        let contents = try found.contents(as: identity, item: item, settings: settings, subject: subject)
        return (contents, found.originalLengths)
    }
}

extension InternetArchiveSettings: CatalogFormat {
    package static func bookID(in address: ResourceAddress) -> String? {
        address.isOf(domain: "archive.org") ? ArchiveAddress.item(in: address.secretText) : nil
    }

    package static func bookID(in answer: CatalogResponse) -> String? {
        guard let object = answer.object, let metadata = object["metadata"], metadata.kind == .object,
            object["files"]?.kind == .array || object["is_dark"] != nil
        else { return nil }
        return metadata["identifier"]?.text.flatMap { ArchiveAddress.isItem($0) ? $0 : nil } ?? savedID
    }

    package func read(_ answer: CatalogResponse, source: String, id: String?) throws -> CatalogContents {
        let asked = BookIdentity(source: source, id: id ?? Self.savedID)
        let subject = ErrorContext(book: asked, part: "the metadata")
        let item = try ArchiveItem(try answer.json(for: subject), for: subject)
        let name = id ?? item.identifier ?? Self.savedID
        return try item.contents(
            as: BookIdentity(source: source, id: name), item: item.identifier ?? name, settings: self, subject: subject)
    }

    package func source(over client: CatalogClient) -> any CatalogSource {
        InternetArchiveSource(settings: self, client: client)
    }
}
