import BookModel
import CatalogFetcher
import Settings
import Transport

extension Configuration {
    /// The list without books in a private network, unless it is there itself: a public one must not lead there.
    /// - Throws: ``Failure`` of kind `usage` where the source has no such list, `configuration` where it cannot be asked.
    func requireCollection(_ collection: BookIdentity, over transport: HTTPTransport) throws -> any BookCollection {
        try requireSource(of: collection)
        if let list = try bookCollection(collection, over: transport) {
            return isPrivate(collection) ? list : PublicCollection(list: list)
        }
        throw Failure(
            .usage, what: "\(collection) cannot be followed", why: "its source has no such list of books",
            remedy:
                "write archive:collection:NAME, archive:search:QUERY, librivox:author:NAME, librivox:language:NAME, "
                + "opds:feed:ADDRESS, feed:opml:ADDRESS or SOURCE:library:ID")
    }

    /// Whether a list of books is in a private network itself, or its source may lead there.
    private func isPrivate(_ collection: BookIdentity) -> Bool {
        let name = collection.collection?.name ?? ""
        return source(named: collection.source)?.allowsPrivateAddresses == true
            || name.contains("://") && ResourceAddress(name).isPlainlyPrivate
    }

    /// Makes sure that what a subscription says has a meaning for what it names, a book or a list of books.
    /// - Throws: ``Failure`` of kind `usage` or `configuration`.
    package func requireMeaning(of subscription: Subscription, over transport: HTTPTransport) throws {
        guard subscription.book.isCollection else {
            guard subscription.collection.isEmpty else {
                throw Failure(
                    .usage, what: "\(subscription.book) cannot be subscribed to",
                    why: "--language, --min-hours and --max-books choose among the books of a list, and it is one book",
                    remedy: "leave them out")
            }
            return
        }
        _ = try requireCollection(subscription.book, over: transport)
        guard subscription.filter.only == nil, subscription.filter.latest == nil, subscription.title == nil else {
            throw Failure(
                .usage, what: "\(subscription.book) cannot be subscribed to",
                why: "--only, --latest and --title are for one book, and it is a list of books",
                remedy: "leave them out; --match, --exclude and --since choose among its books")
        }
    }
}

/// A list without the books whose addresses say by themselves that they are on this machine or in a private network.
private struct PublicCollection: BookCollection {
    let list: any BookCollection

    func page(at cursor: String?) async throws -> CollectionPage {
        var page = try await list.page(at: cursor)
        page.entries.removeAll {
            let id = $0.identity.id
            return id.contains("://") && ResourceAddress(id).isPlainlyPrivate
        }
        return page
    }
}

extension Failure {
    static func endlessList(_ collection: BookIdentity) -> Failure {
        Failure(
            .unreadableCatalog, what: "the list of \(collection) cannot be read", why: "its pages have no end",
            remedy: "check the collection's address; its books stay followed as they are")
    }
}
