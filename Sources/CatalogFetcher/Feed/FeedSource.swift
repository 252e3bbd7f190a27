import BookModel
import Foundation
import NIOCore
import NIOHTTP1
import Transport

/// Podcasts and audiobooks that are listed as feeds: RSS of all versions, and Atom.
///
/// A feed is read as it arrives, and may go on on further pages (RFC 5005). What could be read is listed, with a warning
/// where something is missing, and then the listing is incomplete.
package struct FeedSource: CatalogSource {
    let settings: FeedSettings
    let client: CatalogClient

    package func list(_ book: BookIdentity, onPage: PageHandler) async throws -> CatalogListing {
        guard let listing = try await list(book, validator: nil, onPage: onPage) else {
            throw Failure(
                .unreadableCatalog, what: "the feed of \(book) cannot be read",
                why: "the server says that it is unchanged, which was not asked for", remedy: "try again later")
        }
        return listing
    }

    package func list(
        _ book: BookIdentity, ifChangedSince validator: ListingValidator, onPage: PageHandler
    ) async throws -> CatalogListing? {
        try await list(book, validator: validator, onPage: onPage)
    }

    private func list(
        _ book: BookIdentity, validator: ListingValidator?, onPage: PageHandler
    ) async throws -> CatalogListing? {
        let address = try settings.address(of: book)
        var read: [ResourceAddress: Page] = [:]
        if let validator {
            guard let changed = try await changedPage(of: book, feed: address, since: validator) else { return nil }
            read = changed
        }
        let asked = read[address] == nil ? try await page(1, of: book, at: address) : nil
        guard let first = read[address] ?? asked else { return nil }
        var feed = FeedListing()
        _ = feed.add(first.document)
        var pages = [ListingValidator.Page(validator: first.validator)]
        try await readFurtherPages(after: first, of: book, feed: address, into: &feed, &pages, read: read)
        var contents = feed.contents(as: book)
        try await contents.deliver(to: onPage)
        // Where nothing tells whether a page is the same, nothing tells of the listing; an empty one is asked for again.
        if contents.listing.proof.isComplete, !contents.episodes.isEmpty,
            !pages.contains(where: { $0.validator == ContentValidator() })
        {
            contents.listing.proof.validator = ListingValidator(pages: pages, readAt: Date())
        }
        contents.listing.movedTo = first.movedTo
        contents.listing.successor = first.document.newAddress.map { ResourceAddress($0) }
        return contents.listing
    }

    /// Asks for each page whether it changed, until one did: then all pages are needed.
    ///
    /// - Returns: what was read of them; nil when none changed. An empty response to a condition says nothing.
    private func changedPage(
        of book: BookIdentity, feed: ResourceAddress, since validator: ListingValidator
    ) async throws -> [ResourceAddress: Page]? {
        for (index, known) in validator.pages.enumerated() {
            let address = known.address.map { ResourceAddress($0) } ?? feed
            do {
                let page = try await page(index + 1, of: book, at: address, unlessStill: known.validator)
                if let page { return page.document.items.isEmpty ? [:] : [address: page] }
            } catch is Failure where index > 0 {
                return [:]
            }
        }
        return nil
    }

    // MARK: Pages

    /// One document of the feed, and what it came with.
    private struct Page {
        var document: FeedDocument
        var validator = ContentValidator()
        var movedTo: ResourceAddress?
    }

    private static let maxPages = 1000

    private func readFurtherPages(
        after first: Page, of book: BookIdentity, feed address: ResourceAddress, into feed: inout FeedListing,
        _ pages: inout [ListingValidator.Page], read: [ResourceAddress: Page]
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
                let asked = read[target] == nil ? try await page(number, of: book, at: target) : nil
                guard let page = read[target] ?? asked else { return }
                let isStorable = FeedAddress.shown(target.secretText) == target.secretText
                pages.append(
                    .init(address: target.secretText, validator: isStorable ? page.validator : ContentValidator()))
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
    ///   - known: what a former answer came with.
    /// - Returns: nil when the server says that nothing changed.
    private func page(
        _ number: Int, of book: BookIdentity, at address: ResourceAddress, unlessStill known: ContentValidator? = nil
    ) async throws -> Page? {
        var request = HTTPRequest(.get, address, headers: ["Accept": Self.accepted])
        if var validator = known {
            // Apache marks the tag of what it compresses, and then knows only the tag without the mark.
            if let tag = validator.entityTag, tag.hasSuffix("-gzip\"") {
                validator.entityTag = "\(tag), \(tag.dropLast(6))\""
            }
            request.addConditions(of: validator)
        }
        var subject = ErrorContext(book: book, part: number == 1 ? "the feed" : "page \(number) of the feed")
        if number == 1, book.id.contains("://") {
            (subject.feed, subject.hasMoved) = (address, FeedSettings.isElsewhere(address, than: book.id))
        }
        let secrets = settings.secrets(in: address)
        // What a document that ends too early has is better than nothing, if asking again does not help.
        var beginning: Page?
        var hasMoved = false
        do {
            let page = try await client.fetch(
                request, for: subject,
                receive: { answer in
                    hasMoved = answer.movedTo != nil
                    return try await receive(
                        answer, hasConditions: known != nil, for: subject, secrets: secrets, beginning: &beginning)
                }
            ).document
            // What the old address gave says nothing of the new one.
            guard page == nil, hasMoved else { return page }
            return try await self.page(number, of: book, at: address)
        } catch let failure as Failure where failure.kind == .catalogUnavailable {
            guard let beginning else { throw failure }
            return beginning
        }
    }

    private static let accepted = "application/rss+xml, application/atom+xml, application/xml, text/xml, */*;q=0.5"

    private func receive(
        _ answer: HTTPResponse, hasConditions: Bool, for subject: ErrorContext, secrets: SecretMask,
        beginning: inout Page?
    ) async throws -> CatalogClient.Reading<Page?> {
        if answer.status == 304 { return .document(nil) }
        let nothing = Page(document: FeedDocument())
        if answer.status == 412 { return .document(nothing) }
        let charset = answer.first("Content-Type").flatMap(Encoding.charset)
        let reader = FeedReader(charset: charset, base: answer.address.secretText, secrets: secrets)
        var length = 0
        for try await part in await DecodedBody(ofDocument: answer) {
            length += part.bytes.readableBytes
            guard length <= client.maxResponseBytes else {
                throw client.oversized(limit: client.maxResponseBytes, for: subject)
            }
            part.bytes.withUnsafeReadableBytes { bytes in bytes.withMemoryRebound(to: UInt8.self, reader.consume) }
        }
        switch reader.finish() {
        case .foreign where hasConditions: return .document(nothing)
        case .foreign(let why, let mayBeCut): return mayBeCut ? .cutShort(why: why) : .unreadable(why: why)
        case .feed(let document):
            let page = Page(document: document, validator: Self.validator(of: answer), movedTo: answer.movedTo)
            if document.isWhole || answer.declaresLength { return .document(page) }
            beginning = page
            return .cutShort(why: "the feed ends in the middle")
        }
    }

    /// The validator of a response. A `Last-Modified` later than the response's `Date` is ignored (RFC 9110 §8.8.2.1).
    private static func validator(of answer: HTTPResponse) -> ContentValidator {
        let now = answer.first("Date").flatMap { CatalogDate.seconds(parsing: $0) } ?? Date().timeIntervalSince1970
        let modified = answer.first("Last-Modified").flatMap { CatalogDate.seconds(parsing: $0) }
        return ContentValidator(
            entityTag: answer.first("ETag"), lastModified: modified ?? 0 > now ? nil : answer.first("Last-Modified"))
    }
}
