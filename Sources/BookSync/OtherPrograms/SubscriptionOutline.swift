import BookModel
import CatalogFetcher
import Foundation
import LibraryFiles
import Settings

/// The subscriptions as a list that other programs read (OPML), and that `booksync subscriptions --import` reads back whole.
package struct SubscriptionOutline: Sendable {
    private let document: OPMLDocument
    /// Those that have no feed, so that nothing but booksync can follow them.
    package let booksWithoutFeed: [BookIdentity]
    /// Feeds whose addresses are left out.
    package let notices: [Message]

    /// Of all subscriptions.
    /// - Parameter books: those that are wanted; none for all.
    /// - Throws: ``Failure`` of kind `unknownBook` when one of them is not followed.
    package init(of configuration: Configuration, books: [BookIdentity] = []) async throws {
        let shelves = try await LibraryAnswers.of(configuration, nil) { configuration, _ in
            try await ShelfReader.read(configuration.library) { shelf in
                (subscriptions: try await shelf.subscriptions(), books: try await shelf.books().map(\.book))
            }
        }
        // A list that lacks a library's subscriptions would not be all of them.
        if let (_, failure) = shelves.failures.first { throw failure }
        let stored = shelves.answers.flatMap { $0.value?.subscriptions ?? [] }
        let shelved = shelves.answers.flatMap { $0.value?.books ?? [] }
        let titles = Dictionary(shelved.map { ($0.identity, $0.title) }) { first, _ in first }
        let followed = try configuration.allSubscriptions(with: stored)
        if let unknown = books.first(where: { book in !followed.contains { $0.book == book } }) {
            throw Failure(
                .unknownBook, what: "\(unknown) cannot be exported as a subscription", why: "mirror does not follow it",
                remedy: "booksync subscriptions lists what is followed")
        }
        var document = OPMLDocument()
        document.title = "booksync subscriptions"
        for subscription in followed where books.isEmpty || books.contains(subscription.book) {
            var feed = OPMLFeed(
                title: subscription.title ?? titles[subscription.book],
                address: configuration.feedAddress(of: subscription.book), tags: subscription.tags)
            feed.booksync = subscription
            document.feeds.append(feed)
        }
        let missing = document.feeds.filter { $0.address == nil }.compactMap(\.booksync?.book)
        func isFeed(_ book: BookIdentity) -> Bool { configuration.source(named: book.source)?.kind == .feed }
        booksWithoutFeed = missing.filter { !isFeed($0) }
        notices = missing.filter(isFeed).map {
            "the address of \($0) is not exported: it holds a secret, or only the configuration has it"
        }
        document.notes = notices.map(\.description)
        self.document = document
    }

    package func bytes() throws -> [UInt8] { try document.bytes() }

    /// Writes it whole or not at all.
    /// - Parameter path: relative to the current folder; a folder gets a `subscriptions.opml`.
    /// - Returns: the path of the file, and whether it was not the same already.
    package func write(to path: String) async throws -> (path: String, isWritten: Bool) {
        let bytes = try bytes()
        return try await runBlocking {
            let file = isFolder(at: path) ? path + "/subscriptions.opml" : path
            let target = URL(filePath: file).standardizedFileURL.path(percentEncoded: false)
            return (target, try ExportDisk.write(bytes, to: target))
        }
    }
}

extension Configuration {
    /// The address under which any program can follow the book; nil when there is none, or it would hold a secret.
    func feedAddress(of book: BookIdentity) -> ResourceAddress? {
        guard let source = source(named: book.source) else { return nil }
        switch source.kind {
        case .feed:
            let recorded = recordedAddress(of: book)
            let isWhole = FeedSettings.isWholeAddress(recorded.map(FeedSettings.bookID(of:)) ?? book.id)
            return isWhole ? recorded ?? ResourceAddress(book.id) : nil
        case .librivox where source.url == nil && book.id.utf8.allSatisfy { (0x30...0x39).contains($0) }:
            return ResourceAddress("https://librivox.org/rss/\(book.id)")
        default: return nil
        }
    }
}
