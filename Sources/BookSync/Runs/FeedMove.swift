import BookModel
import CatalogFetcher
import CatalogStore
import Logging
import Settings
import Transport

extension Configuration {
    /// Asks for a feed at the address to which the user says that it has moved.
    /// - Throws: ``Failure`` as for any feed; of kind `unreadableCatalog` if none of the book's known episodes is listed.
    package func requireFeed(of book: BookIdentity, at address: ResourceAddress, logger: Logger) async throws {
        let known = try await ShelfReader.read(library) { shelf in
            try await shelf.store.known(among: [book]).isEmpty ? nil : shelf.store.knownEpisodes(of: book)
        }
        guard let known = known ?? nil else { throw Failure.notOnTheShelf(book) }
        var asking = self
        asking.moved[book] = address
        let listed = try await withHTTPTransport(options: transportOptions, logger: logger) { [asking] transport in
            var listed: [Episode] = []
            let source = try asking.catalogSource(for: book, transport: transport)
            _ = try await source.list(book) { listed += $0.episodes }
            return listed
        }
        var resolver = EpisodeResolver(known: known)
        let keys = Set(known.map(\.identity.key))
        guard known.isEmpty || resolver.resolve(listed).contains(where: { keys.contains($0.identity.key) }) else {
            throw Failure(
                .unreadableCatalog, what: "\(book) cannot be at \(address)",
                why: "none of its episodes is listed there",
                remedy: "if that is another book, subscribe to it: booksync subscribe ADDRESS")
        }
    }
}
