import BookModel
import Foundation
import NIOCore
import NIOHTTP1
import TextParsing
import Transport

/// Podcasts and audiobooks that are listed as feeds: RSS of all versions, and Atom.
///
/// A feed is read as it arrives, and may go on on further pages (RFC 5005). What could be read is listed, with a warning
/// where something is missing, and then the listing is incomplete.
package struct FeedSource: CatalogSource {
    private let settings: FeedSettings
    private let exchange: CatalogClient

    init(settings: FeedSettings, connection: CatalogConnection) {
        self.settings = settings
        self.exchange = connection.exchange(maxResponseBytes: settings.maxResponseBytes)
    }

    package func list(
        _ book: BookIdentity, onPage: (CatalogPage) async throws -> Void
    ) async throws -> CatalogListing {
        guard let listing = try await list(book, validator: nil, onPage: onPage) else {
            throw Failure(
                .unreadableCatalog, what: "the feed of \(book) cannot be read",
                why: "the server says that it is unchanged, which was not asked for", remedy: "try again later")
        }
        return listing
    }

    package func list(
        _ book: BookIdentity, ifChangedSince validator: ContentValidator,
        onPage: (CatalogPage) async throws -> Void
    ) async throws -> CatalogListing? {
        try await list(book, validator: validator, onPage: onPage)
    }

    private func list(
        _ book: BookIdentity, validator: ContentValidator?, onPage: (CatalogPage) async throws -> Void
    ) async throws -> CatalogListing? {
        let address = try settings.address(of: book)
        guard let first = try await page(1, of: book, at: address, feed: address, validator: validator) else {
            return nil
        }
        var feed = FeedListing()
        _ = feed.add(first.document)
        try await readFurtherPages(after: first, of: book, feed: address, into: &feed)
        var contents = feed.contents(as: book)
        try await contents.deliver(to: onPage)
        if contents.listing.proof.isComplete { contents.listing.proof.validator = first.validator }
        return contents.listing
    }

    // MARK: Pages

    /// One document of the feed, and what it came with.
    private struct Page {
        var document: FeedDocument
        var validator: ContentValidator?
    }

    private static let maxPages = 1000

    private func readFurtherPages(
        after first: Page, of book: BookIdentity, feed address: ResourceAddress, into feed: inout FeedListing
    ) async throws {
        var visited: Set<String> = [address.wireText]
        var next = first.document.next
        while let target = next.map({ ResourceAddress($0) }) {
            guard visited.insert(target.wireText).inserted else {
                feed.troubles.append(
                    "page \(feed.pages) leads back to one that was read: the listing was stopped there")
                return
            }
            guard feed.pages < Self.maxPages else {
                feed.troubles.append("the feed goes on after \(feed.pages) pages: the listing was stopped there")
                return
            }
            let number = feed.pages + 1
            do {
                guard let page = try await page(number, of: book, at: target, feed: address, validator: nil) else {
                    return
                }
                let added = feed.add(page.document)
                if feed.isBeyondCeiling { return }
                guard added > 0 else {
                    feed.troubles.append("page \(number) brings nothing new: the listing was stopped there")
                    return
                }
                next = page.document.next
            } catch let failure as Failure {
                feed.troubles.append("page \(number) is missing: \(failure)")
                return
            }
        }
    }

    /// - Parameters:
    ///   - feed: the feed's own address. Only its server is sent credentials, if they are meant for it.
    ///   - validator: what a former answer came with.
    /// - Returns: nil when the server says that nothing changed.
    private func page(
        _ number: Int, of book: BookIdentity, at address: ResourceAddress, feed: ResourceAddress,
        validator: ContentValidator?
    ) async throws -> Page? {
        var request = HTTPRequest(.get, address, headers: ["Accept": Self.accepted])
        if address.server == feed.server { request.credentials = settings.credentials(for: feed) }
        if let tag = validator?.entityTag { request.headers.add(name: "If-None-Match", value: tag) }
        if let date = validator?.lastModified { request.headers.add(name: "If-Modified-Since", value: date) }
        let subject = ErrorContext(book: book, part: number == 1 ? "the feed" : "page \(number) of the feed")
        let secrets = settings.secrets(in: address)
        // What a document that ends too early has is better than nothing, if asking again does not help.
        var beginning: Page?
        do {
            return try await exchange.fetch(
                request, for: subject,
                receive: { answer in
                    try await receive(answer, for: subject, secrets: secrets, beginning: &beginning)
                }
            ).document
        } catch let failure as Failure where failure.kind == .catalogUnavailable {
            guard let beginning else { throw failure }
            return beginning
        }
    }

    private static let accepted = "application/rss+xml, application/atom+xml, application/xml, text/xml, */*;q=0.5"

    private func receive(
        _ answer: HTTPResponse, for subject: ErrorContext, secrets: SecretMask, beginning: inout Page?
    ) async throws -> CatalogClient.Reading<Page?> {
        if answer.status == 304 { return .document(nil) }
        let charset = answer.first("Content-Type").flatMap(Encoding.charset)
        let reader = FeedReader(charset: charset, base: answer.address.secretText, secrets: secrets)
        var length = 0
        for try await part in answer.body {
            length += part.readableBytes
            guard length <= settings.maxResponseBytes else {
                throw exchange.oversized(limit: settings.maxResponseBytes, for: subject)
            }
            part.withUnsafeReadableBytes { bytes in bytes.withMemoryRebound(to: UInt8.self, reader.consume) }
        }
        switch reader.finish() {
        case .foreign(let why, let mayBeCut): return mayBeCut ? .cutShort(why: why) : .unreadable(why: why)
        case .feed(let document):
            let validator = ContentValidator(
                entityTag: answer.first("ETag"), lastModified: answer.first("Last-Modified"))
            let hasValidator = validator.entityTag != nil || validator.lastModified != nil
            let page = Page(document: document, validator: hasValidator ? validator : nil)
            if document.isWhole || answer.declaresLength { return .document(page) }
            beginning = page
            return .cutShort(why: "the feed ends in the middle")
        }
    }
}
