import BookModel

/// What is being asked of a catalog, and the sentences for when it cannot be had.
package struct ErrorContext {
    let book: BookIdentity
    /// As in "page 2".
    let part: Message
    /// The address that is asked, of a feed that is named by its address.
    var feed: ResourceAddress?
    /// True if that is another than the book's id says: then it names the feed.
    var hasMoved = false

    package init(book: BookIdentity, part: Message) {
        self.book = book
        self.part = part
    }

    private var subject: String { hasMoved ? place : book.description }
    private var place: String { hasMoved ? feed?.withoutSecrets ?? book.id : book.id }

    /// Whether the user knows the book by its address alone, and not by a source.
    private var isAtAddress: Bool { book.id.contains("://") }

    /// - Parameter disposition: `skip` where the server answers, and refuses this book: it is not down for others.
    func unavailable(
        at address: ResourceAddress, why: Message, remedy: Message = "try again later",
        disposition: Failure.Disposition = .retry
    ) -> Failure {
        Failure(
            .catalogUnavailable, disposition: disposition,
            what: "\(part) of \(subject) cannot be fetched from \(address.host)", why: why, remedy: remedy)
    }

    /// Of a server that wants to be left alone for longer than anything waits.
    func closed(at address: ResourceAddress, for seconds: Double, why: Message) -> Failure {
        unavailable(at: address, why: "\(why): the server asked to retry after \(describeSeconds(seconds))")
    }

    package func unreadable(why: Message) -> Failure {
        Failure(
            .unreadableCatalog, what: "\(part) of \(subject) cannot be read", why: why,
            remedy: isAtAddress
                ? "check the address, and whether something else answers in the catalog's place"
                : "check the address and the query of source \(book.source), and whether something else answers in "
                    + "the catalog's place")
    }

    func credentialsRejected(why: Message) -> Failure {
        if let feed {
            return Failure(
                .credentialsRejected, what: "the server rejects the credentials for \(feed)", why: why,
                remedy: "if the address holds a secret: booksync subscribe NEWADDRESS; else see source \(book.source)")
        }
        return Failure(
            .credentialsRejected, what: "the catalog rejects the credentials of source \(book.source)", why: why,
            remedy: isAtAddress
                ? "check user, password and token in the address, or what is configured of source \(book.source)"
                : "renew the token or the secret in the configuration of source \(book.source)")
    }

    func credentialsWanted(why: Message) -> Failure {
        Failure(
            .credentialsRejected, what: "\(part) of \(subject) needs credentials", why: why,
            remedy: "set user and password, or bearer, for source \(book.source), or use the address with its key")
    }

    func unknownBook(why: Message) -> Failure {
        guard !isAtAddress else {
            return Failure(
                .unknownBook, what: "no book is at \(place)", why: why,
                remedy: feed == nil
                    ? "check the address"
                    : "check the address; if the feed has moved: booksync subscriptions --moved '\(book)' NEWADDRESS")
        }
        return Failure(
            .unknownBook, what: "source \(book.source) has no book \(book.id)", why: why,
            remedy: "check the id and the address of source \(book.source)")
    }

    func badAddress(_ address: ResourceAddress) -> Failure {
        Failure(
            .configuration, disposition: .stop, what: "source \(book.source) has no usable address",
            why: "\(address) is not one that can be fetched", remedy: "write its url as http://… or https://…")
    }
}
