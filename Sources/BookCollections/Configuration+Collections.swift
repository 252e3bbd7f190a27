import BookModel
import CatalogFetcher
import CatalogSearch
import Settings
import Transport

extension Configuration {
    /// - Throws: ``Failure`` of kind `usage` where the source has no such list, `configuration` where it cannot be asked.
    func requireCollection(_ collection: BookIdentity, over transport: HTTPTransport) throws -> any BookCollection {
        try requireSource(of: collection)
        if let list = try bookCollection(collection, over: transport) { return list }
        throw Failure(
            .usage, what: "\(collection) cannot be followed", why: "its source has no such list of books",
            remedy:
                "write archive:collection:NAME, archive:search:QUERY, librivox:author:NAME, librivox:language:NAME, "
                + "opds:feed:ADDRESS, feed:opml:ADDRESS or SOURCE:library:ID")
    }

    /// Whether a list of books is in a private network itself, or its source may lead there.
    func isPrivate(_ collection: BookIdentity) -> Bool {
        let address = collection.id.drop { $0 != ":" }.dropFirst()
        return source(named: collection.source)?.allowsPrivateAddresses == true
            || address.contains("://") && ResourceAddress(String(address)).isPlainlyPrivate
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

extension Failure {
    static func endlessList(_ collection: BookIdentity) -> Failure {
        Failure(
            .unreadableCatalog, what: "the list of \(collection) cannot be read", why: "its pages have no end",
            remedy: "check the collection's address; its books stay followed as they are")
    }
}
