import BookModel
import CatalogFetcher
import CatalogStore
import Foundation
import Logging
import NIOCore
import Settings
import Transport

// Which book an address names. Some addresses say it themselves, some are known from the shelf; of the others the
// answer tells.

extension Configuration {
    /// Looks on the shelf, and asks nobody, which books the addresses among the references and the subscriptions name.
    package func knowing(_ references: [BookReference]) async throws -> Configuration {
        let references = references + subscriptions.map(\.reference)
        let addresses = references.compactMap(\.address).filter { recognised[$0] == nil && named(by: $0) == nil }
        guard !addresses.isEmpty || !singleFeeds.isEmpty else { return self }
        let shelf = try await shelvedBooks()
        var configuration = self
        let books = AddressedBooks(shelf, of: self)
        for address in addresses { configuration.recognised[address] = books.book(at: address) }
        configuration.knowSingleFeeds(among: references, shelf, books)
        return configuration
    }

    /// What is on the shelf, and what is subscribed to; nothing where its store cannot be read. Who works with the store says what
    /// is wrong with it, or puts it right.
    private func shelvedBooks() async throws -> [BookIdentity] {
        do {
            return try await ShelfReader.read(library) { shelf in
                try await shelf.books().map(\.book.identity) + shelf.subscriptions().map(\.book)
            } ?? []
        } catch is Failure {
            return []
        }
    }

    /// The sources that are of one feed each, by their names, and its address.
    private var singleFeeds: [(name: String, address: ResourceAddress)] {
        sources.values.compactMap { source in source.onlyFeed.map { (source.name, $0) } }
    }

    /// A source of one feed has one book, whatever it is called: the one that is on the shelf, be it by the feed's address.
    private mutating func knowSingleFeeds(
        among references: [BookReference], _ shelf: [BookIdentity], _ books: AddressedBooks
    ) {
        let known = Set(shelf)
        for (name, address) in singleFeeds {
            guard let book = shelf.first(where: { $0.source == name }) ?? books.book(at: address) else { continue }
            recognised[address] = book
            for reference in references {
                guard case .book(let other) = reference.target, other.source == name, !known.contains(other) else {
                    continue
                }
                named[reference.description] = book
            }
        }
    }

    /// Finds out which books the addresses among the references name, and those among the subscriptions where these are
    /// asked for too, so that ``book(_:)`` knows. A subscription whose address cannot be asked does not hold up the others.
    ///
    /// - Parameters:
    ///   - goesOn: whether an address among the references that cannot be asked, or is none of a catalog, is put into
    ///     ``unrecognised``, and the others are asked all the same.
    ///   - emit: hears which addresses are asked.
    /// - Throws: ``Failure`` for such an address otherwise, and when a reference holds a secret where it would be stored.
    package func recognising(
        _ references: [BookReference], andSubscriptions: Bool = false, goesOn: Bool = false, logger: Logger,
        emit: @escaping @Sendable (SyncEvent) -> Void = { _ in }
    ) async throws -> Configuration {
        for reference in references { try reference.requireNoSecret() }
        let configured = andSubscriptions ? subscriptions.map(\.reference) : []
        let (wanted, subscribed) = (references.compactMap(\.address), configured.compactMap(\.address))
        guard !wanted.isEmpty || !subscribed.isEmpty || !singleFeeds.isEmpty else { return self }
        let shelf = try await shelvedBooks()
        var books = AddressedBooks(shelf, of: self)
        var configuration = self
        configuration.knowSingleFeeds(among: references + configured, shelf, books)
        for address in wanted + subscribed where configuration.recognised[address] == nil {
            configuration.recognised[address] = named(by: address) ?? books.book(at: address)
        }
        let asked = Set(wanted + subscribed).filter { configuration.recognised[$0] == nil }
        guard !asked.isEmpty else { return configuration }
        configuration.readResponses = ReadResponses()
        try await withHTTPTransport(options: configuration.transportOptions, logger: logger) { transport in
            emit(.asking(catalogs: asked.count))
            for address in wanted
            where configuration.recognised[address] == nil && configuration.unrecognised[address] == nil {
                do {
                    let found = try await book(at: address, among: books, transport: transport, emit)
                    configuration.add(found, at: address, &books)
                } catch let failure as Failure where goesOn {
                    configuration.unrecognised[address] = failure
                }
            }
            let unknown = subscribed.filter { configuration.recognised[$0] == nil }
            let all = try await self.books(at: unknown, among: books, transport: transport, logger: logger, emit)
            for (address, found) in all { configuration.add(found, at: address, &books) }
            try Task.checkCancellation()
        }
        return configuration
    }

    /// A book, and where its catalog is: elsewhere than at the address that was given, where a page names its feed. The twin is the
    /// book of the library that has the same episodes, from another address.
    private typealias Found = (book: BookIdentity, address: ResourceAddress, twin: BookIdentity?)

    private mutating func add(_ found: Found, at address: ResourceAddress, _ books: inout AddressedBooks) {
        let book = books.known(found.book, or: found.twin)
        for address in [address, found.address] { recognised[address] = book }
        if book == found.twin, book != found.book { moved[book] = found.address }
    }

    /// A book of the library that has the same episodes is the same where both feeds have one name, or its own cannot be read any
    /// more: then it has moved here, and likewise where its own lists less. Else they are two feeds that share episodes.
    /// - Parameter contents: of a feed; nil if the answer is not a feed, or could not be read whole.
    private func found(
        _ book: BookIdentity, listing contents: CatalogContents?, at address: ResourceAddress,
        over transport: HTTPTransport
    ) async -> Found {
        guard let contents, !contents.episodes.isEmpty,
            let twin = try? await ShelfReader.read(library, { try await $0.store.twin(of: contents.episodes) }) ?? nil,
            twin != book, source(named: twin.source)?.kind == .feed
        else { return (book, address, nil) }
        let own = recordedAddress(of: twin) ?? ResourceAddress(twin.id)
        let asking = transport.using(access(of: twin))
        guard !own.isMasked, let (answer, isCut) = try? await CatalogResponse.beginning(of: own, over: asking),
            let listed = try? Self.contents(of: twin, in: answer)
        else { return (book, address, twin) }
        let (keys, theirs) = (Set(contents.episodes.map(\.identity.key)), Set(listed.episodes.map(\.identity.key)))
        let (title, theirTitle) = (contents.listing.description.title, listed.listing.description.title)
        let read = try? await ShelfReader.read(library) { shelf in
            (try await shelf.store.knownEpisodes(of: twin), try await shelf.store.book(twin)?.title)
        }
        guard let (known, former) = read ?? nil else { return (twin, own, nil) }
        var resolver = EpisodeResolver(known: known, isRenamed: former != theirTitle)
        let stillListed = Set(resolver.resolve(listed.episodes).map(\.identity)).intersection(known.map(\.identity))
        if stillListed.isEmpty, theirs.isDisjoint(with: keys) { return (book, address, twin) }
        guard title == theirTitle else { return (book, address, nil) }
        return isCut || keys.isSubset(of: theirs) ? (twin, own, nil) : (book, address, twin)
    }

    /// The episodes that a feed lists, of which there may be the beginning alone.
    private static func contents(of book: BookIdentity, in answer: CatalogResponse) throws -> CatalogContents {
        try FeedSettings().read(answer, source: book.source, id: book.id)
    }

    /// Addresses that are asked at once: one that does not answer must not have each of the others wait for it.
    private static let recognitionJobs = 8

    /// Those of the addresses that are recognised.
    private func books(
        at addresses: [ResourceAddress], among books: AddressedBooks, transport: HTTPTransport, logger: Logger,
        _ emit: @escaping @Sendable (SyncEvent) -> Void
    ) async throws -> [(address: ResourceAddress, found: Found)] {
        try await addresses.concurrentMap(atOnce: Self.recognitionJobs) { address -> (ResourceAddress, Found)? in
            do {
                return (address, try await book(at: address, among: books, transport: transport, emit))
            } catch {
                logger.info("an address is not recognised", metadata: ["why": "\(error)"])
                return nil
            }
        }.compactMap(\.self)
    }

    private func book(
        at address: ResourceAddress, among books: AddressedBooks, transport: HTTPTransport,
        _ emit: @Sendable (SyncEvent) -> Void
    ) async throws -> Found {
        emit(.waiting(.address(address), Wait(asking: address.withoutSecrets)))
        defer { emit(.waiting(.address(address), nil)) }
        if let service = PodcastService(address) { return try await book(of: service, at: address, books, transport) }
        let transport = transport.using(access(at: address))
        let (answer, isSlow) = try await CatalogResponse.beginning(of: address, over: transport)
        // A page that names its feed may link to audio as a directory does.
        if let book = book(answer, at: address, as: SourceKind.recognitionOrder.dropLast()) {
            let isFeed = source(named: book.source)?.kind == .feed
            let contents = isFeed ? try? Self.contents(of: book, in: answer) : nil
            return await found(book, listing: contents, at: address, over: transport)
        }
        let page = WebPage(answer.bytes, at: answer.address ?? address)
        if let found = try await book(ofFeeds: page.feeds, books, transport) { return found }
        if let book = book(answer, at: address, as: [.directory]) { return (book, address, nil) }
        guard !isSlow else {
            throw Failure(
                .catalogUnavailable, what: "\(address) cannot be identified",
                why: "the \(answer.bytes.count) bytes that came in \(Int(CatalogResponse.patience)) s do not tell",
                remedy: "try again later, or make the address the url of a source of its type")
        }
        let search = PodcastService.search(for: CatalogText.name(String(decoding: page.title, as: UTF8.self)))
        throw Failure(
            .unreadableCatalog, what: "\(address) cannot be read as a catalog",
            why: page.feeds.isEmpty
                ? "it is no feed, archive item, LibriVox book, book-resource page, OPDS publication or directory"
                : "the feed that the page names cannot be read, or lists no audio (\(page.feeds[0]))",
            remedy: page.title.isEmpty
                ? "look whether the address is that of the book's feed or folder"
                : "look whether the address is that of the book's feed or folder, or search for it: \(search)")
    }

    private func book(_ answer: CatalogResponse, at address: ResourceAddress, as kinds: [SourceKind]) -> BookIdentity? {
        for kind in kinds where knows(kind, at: address) {
            if let id = kind.format.bookID(in: answer) {
                return BookIdentity(source: source(for: kind, at: address), id: id)
            }
        }
        return nil
    }

    /// Feeds of a page that are asked.
    private static let maxFeedsAsked = 5

    /// The first of some feeds that is known, or lists audio. They are asked as the page that names them is.
    private func book(
        ofFeeds feeds: [ResourceAddress], _ books: AddressedBooks, _ transport: HTTPTransport
    ) async throws -> Found? {
        for feed in feeds.prefix(Self.maxFeedsAsked) {
            if let known = books.book(at: feed) { return (known, feed, nil) }
            do {
                let (answer, _) = try await CatalogResponse.beginning(of: feed, over: transport)
                guard let book = book(answer, at: feed, as: [.feed]) else { continue }
                let contents = try Self.contents(of: book, in: answer)
                if !contents.episodes.isEmpty {
                    return await found(book, listing: contents, at: feed, over: transport)
                }
            } catch is Failure {
                // Another may be what the page is about.
            }
        }
        return nil
    }

    private func book(
        of service: PodcastService, at address: ResourceAddress, _ books: AddressedBooks, _ transport: HTTPTransport
    ) async throws -> Found {
        var (kind, why) = (Failure.Kind.unreadableCatalog, "\(service.name) does not say where the feed is" as Message)
        do {
            if let number = service.number,
                let feed = try await appleDirectory(over: transport).feed(of: number, in: service.country)
            {
                let asking = transport.using(access(at: find.itunesURL))
                if let found = try await book(ofFeeds: [feed], books, asking) { return found }
                why = "the feed that the page names cannot be read, or lists no audio (\(feed))"
            }
        } catch let failure as Failure {
            (kind, why) = (failure.kind, failure.why)
        }
        throw Failure(
            kind, what: "the feed of \(address) cannot be found", why: why,
            remedy: "search for it: \(PodcastService.search(for: service.title))")
    }
}

extension SourceKind {
    /// Those that are told for sure come before a directory, which any page with links might be.
    package static let recognitionOrder: [SourceKind] = [
        .feed, .bookResource, .librivox, .internetArchive, .audiobookshelf, .opds, .directory,
    ]
}

extension CatalogResponse {
    /// A catalog shows what it is long before its end.
    private static let maxBeginning = 4 << 20
    /// Seconds that more of it is waited for.
    fileprivate static let patience: Double = 30

    /// Asks for an address, which the user gave, and keeps the beginning of the answer.
    ///
    /// - Returns: what came; and whether there would have been more, which was too slow in coming.
    /// - Throws: ``Failure``; `CancellationError`.
    fileprivate static func beginning(
        of address: ResourceAddress, over transport: HTTPTransport
    ) async throws -> (CatalogResponse, isSlow: Bool) {
        let what: Message = "\(address) cannot be identified"
        do {
            let request = HTTPRequest(.get, address)
            let answer = try await transport.send(request)
            switch answer.status {
            case 200..<300: break
            case 403 where !transport.sentCredentials(with: request, to: answer), 406:
                throw Failure(
                    .catalogUnavailable, what: what, why: "the server refuses access (\(answer.status))",
                    remedy:
                        "check the address, or configure a source with the user-agent or the credentials that it wants")
            case 401, 403:
                throw Failure(
                    .credentialsRejected, what: what, why: "the server refuses access (\(answer.status))",
                    remedy: "configure a source with the credentials that it wants")
            case 404, 410:
                throw Failure(
                    .unknownBook, what: what, why: "the server has nothing there (\(answer.status))",
                    remedy: "check the address")
            default:
                throw Failure(
                    .catalogUnavailable, what: what, why: "the server answers \(answer.status)",
                    remedy: "try again later")
            }
            var bytes = ByteBuffer()
            var isWhole = true
            func isFeed() -> Bool {
                FeedSettings.bookID(in: CatalogResponse(bytes: Array(bytes.readableBytesView.prefix(16 << 10)))) != nil
            }
            let deadline = ContinuousClock.now + .seconds(patience)
            do {
                for try await part in await DecodedBody(ofDocument: answer) {
                    bytes.writeImmutableBuffer(part.bytes)
                    let isEnough = bytes.readableBytes >= maxBeginning || ContinuousClock.now > deadline
                    // What is read to its end need not be read again.
                    isWhole = !isEnough || bytes.readableBytes < ReadResponses.maxLength && isFeed()
                    if !isWhole { break }
                }
            } catch is TransportError where isFeed() {
                isWhole = false
            }
            if isWhole { transport.keep(answer, body: bytes, to: request) }
            let isSlow = !isWhole && bytes.readableBytes < maxBeginning
            let beginning = CatalogResponse(
                bytes: Array(bytes.readableBytesView), address: answer.address,
                lastingAddress: answer.movedTo ?? address,
                contentType: answer.first("Content-Type"))
            return (beginning, isSlow)
        } catch let failure as TransportError {
            throw Failure(
                failure.kind == .badAddress ? .usage : .catalogUnavailable, what: what, why: failure.why,
                remedy: failure.remedy ?? "check the address, or try again later")
        }
    }
}
