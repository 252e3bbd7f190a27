import BookModel

/// A list of feeds as programs hand it to each other (OPML 2.0: outlines with `xmlUrl`, in folders).
package struct OPMLDocument: Sendable, Hashable {
    /// What booksync's own attributes belong to.
    static let namespace = "urn:booksync:opml"

    package var title: String?
    /// In the order of the document, each address once.
    package var feeds: [OPMLFeed] = []
    /// Other lists that the document points to (`type="include"` or `"link"`); what they hold is not in here.
    package var lists: [OutlineLink] = []
    /// Pages for which the document names no feed.
    package var pages: [OutlineLink] = []
    /// Whether the document ended where one may end.
    package var isWhole = true
    /// Whether there was more than any list of feeds holds, and the rest was left out.
    package var isBeyondCeiling = false

    /// Written as comments, for people; none are read.
    package var notes: [String] = []

    package init() {}
}

/// A page or another list.
package struct OutlineLink: Sendable, Hashable {
    package var title: String?
    package var address: ResourceAddress
}

/// One feed of an ``OPMLDocument``, or a book of booksync's that has none.
package struct OPMLFeed: Sendable, Hashable {
    /// `text`, else `title`; nil when both are empty.
    package var title: String?
    /// As it stands in the document; nil where there is none. It may hold secrets.
    package var address: ResourceAddress?
    /// The folders that it lies in, and the categories that it names; each once.
    package var tags: [SubscriptionTag] = []
    /// How often it stood there again with nothing new.
    package var repeats = 0
    /// What only booksync writes.
    package var booksync: Subscription?

    package init(title: String? = nil, address: ResourceAddress? = nil, tags: [SubscriptionTag] = []) {
        self.title = title
        self.address = address
        self.tags = tags
    }
}
