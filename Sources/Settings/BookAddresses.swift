import BookModel
import CatalogFetcher
import LibraryFiles
import Transport

// Which book an address names, as far as that is known without asking.

extension Configuration {
    /// The book at an address, as far as that is known without asking: what was recognised, else what the address itself
    /// says. Where neither tells, it is taken for a feed's.
    package func book(at address: ResourceAddress) -> BookIdentity {
        recognised[address] ?? named(by: address)
            ?? BookIdentity(source: source(for: .feed, at: address), id: FeedSettings.bookID(of: address))
    }

    /// Why a REF is an address that was asked, and names no book that is known.
    package func failure(naming reference: BookReference) -> Failure? {
        reference.address.flatMap { unrecognised[$0] }
    }

    /// What an address says by itself.
    package func named(by address: ResourceAddress) -> BookIdentity? {
        for kind in SourceKind.allCases {
            guard let id = kind.format.bookID(in: address), knows(kind, at: address) else { continue }
            return BookIdentity(source: source(for: kind, at: address), id: id)
        }
        return nil
    }

    /// Whether there is a source for what an address leads to. Any server may have addresses such as Audiobookshelf's.
    package func knows(_ kind: SourceKind, at address: ResourceAddress) -> Bool {
        !kind.needsAddress
            || sources.values.contains {
                $0.kind == kind && (kind == .bookResource || $0.url?.server == address.server)
            }
    }

    /// The source of that kind that an address belongs to: one on the same server, else the first that is configured,
    /// else the one that needs no configuration.
    package func source(for kind: SourceKind, at address: ResourceAddress) -> String {
        let candidates = sources.values.filter { $0.kind == kind }.sorted { $0.name < $1.name }
        return (candidates.first { $0.url?.server == address.server } ?? candidates.first)?.name ?? kind.rawValue
    }

    /// Takes an address for one of that kind, whatever it looks like. A REF that names its source stays what it is.
    package mutating func take(_ reference: BookReference, as kind: SourceKind) {
        guard let address = reference.address else { return }
        let id =
            kind.format.bookID(in: address)
            ?? ([.feed, .opds].contains(kind) ? FeedSettings.bookID(of: address) : address.withoutSecrets)
        recognised[address] = BookIdentity(source: source(for: kind, at: address), id: id)
    }
}

extension Configuration {
    /// Whole addresses of books, secrets included, as the user gave them: those that were recognised, and those that
    /// the configuration subscribes to, whose servers may have been away when they were asked what is there.
    package var givenAddresses: [ResourceAddress] {
        recognised.keys + subscribedAddresses.filter { recognised[$0] == nil }
    }

    /// Whether a source's url is the whole address that a book's id is of.
    package func hasWholeAddress(of book: BookIdentity) -> Bool {
        sources.values.contains { source in source.url.map { FeedSettings.isID(book.id, of: $0) } ?? false }
    }

    /// The address of a book's catalog, if another than its id is recorded.
    package func recordedAddress(of book: BookIdentity) -> ResourceAddress? {
        guard book.id.contains("://") else { return nil }
        return moved[book] ?? AddressFile(of: book, in: library).address
    }

    /// True if a feed's own new address may be followed. A private feed may name the public one, if one program makes both.
    package func mayFollow(_ next: ResourceAddress, of book: BookIdentity) -> Bool {
        let address = recordedAddress(of: book) ?? ResourceAddress(book.id)
        return next.normalForm != address.normalForm && FeedSettings.isWholeAddress(FeedSettings.bookID(of: address))
            && (WebOrigin(next)?.isSecure == true || WebOrigin(address)?.isSecure == false)
    }

    /// Records where a book is asked for from now on.
    /// - Parameter redirects: whether a server leads there, and not the user.
    /// - Returns: what to report; nil if that is where it was, or a secret is recorded for the first time.
    package func record(_ address: ResourceAddress, of book: BookIdentity, redirects: Bool = false) throws -> Message? {
        let file = AddressFile(of: book, in: library)
        let recorded = file.address
        let former = recorded ?? ResourceAddress(book.id)
        // A redirect leaves out user and password, which are sent on to the same server all the same.
        guard address != former, !redirects || former.isWithoutUser || !address.isWithoutUser else { return nil }
        if address.secretText == book.id { file.delete() } else { try file.record(address) }
        if FeedSettings.isElsewhere(address, than: FeedSettings.bookID(of: former)) {
            return "\(book) has moved to \(address), where it is asked for from now on"
        }
        guard recorded != nil, address.withoutSecrets == former.withoutSecrets else { return nil }
        return "the secret in the address of \(book) was renewed"
    }

    /// True if a feed is known by an address of which a secret was left out, and the whole address is not known.
    package func lacksAddress(_ book: BookIdentity) -> Bool {
        source(named: book.source)?.kind == .feed && book.id.contains("://") && !FeedSettings.isWholeAddress(book.id)
            && !hasAddress(of: book)
    }

    /// True if more is known of where a book is than its id says.
    package func hasAddress(of book: BookIdentity) -> Bool {
        hasWholeAddress(of: book) || recordedAddress(of: book) != nil
            || givenAddresses.contains { self.book(at: $0) == book }
    }

    /// The address that has to be recorded for a book to be asked for later on; nil where its id is enough.
    ///
    /// - Parameter address: the one that names it.
    /// - Throws: ``Failure`` of kind `configuration` for a source that is asked by ids alone.
    package func addressToRecord(of book: BookIdentity, at address: ResourceAddress) throws -> ResourceAddress? {
        guard book.id.contains("://"), let source = source(named: book.source) else { return nil }
        if let moved = moved[book] { return moved }
        switch source.kind {
        case .feed, .opds:
            // Another address of the book does not replace the recorded one.
            let isKnown = recordedAddress(of: book) != nil && !FeedSettings.isID(book.id, of: address)
            return FeedSettings.isWholeAddress(book.id) || hasWholeAddress(of: book) || isKnown ? nil : address
        case .directory:
            let isID = address.isWithoutUser && !ResourceAddress(book.id).isMasked
            if isID || source.url?.withoutSecrets == book.id { return nil }
        case .bookResource, .librivox, .internetArchive, .audiobookshelf: return nil
        }
        throw Failure(
            .configuration, what: "\(address) cannot be subscribed to",
            why: "its address holds a secret, and secrets of directories are not recorded",
            remedy:
                "write the whole address as the url of a source of type directory, with the secret from the environment"
        )
    }
}

extension [Subscription] {
    /// The same, each with the address that one of some libraries has recorded of its book.
    package func withAddresses(in libraries: [LibraryPlace]) async throws -> [Subscription] {
        let recorded = try await runBlocking { libraries.flatMap { AddressFile.all(in: $0.path) } }
        let addresses = Dictionary(recorded.map { ($0.book, $0.address) }) { first, _ in first }
        return map { subscription in
            var subscription = subscription
            subscription.address = addresses[subscription.book]
            return subscription
        }
    }
}

extension BookReference {
    package var address: ResourceAddress? {
        if case .address(let address) = target { address } else { nil }
    }

    /// As ``BookIdentity/requireNoSecret()``, of the book that it names.
    package func requireNoSecret() throws {
        if case .book(let book) = target { try book.requireNoSecret() }
    }
}

extension BookIdentity {
    /// Makes sure that the name of a book, which is shown and stored, is no address with a secret in it.
    ///
    /// - Throws: ``Failure`` of kind `usage`.
    package func requireNoSecret() throws {
        // Of a list of books as well: `feed:https://…`
        let address = collection?.name ?? id
        guard !ResourceAddress(address).hasNothingToHide, FeedSettings.isWholeAddress(address),
            !FeedSettings.isWholeAddress(FeedSettings.bookID(of: ResourceAddress(address)))
        else { return }
        throw Failure(
            .usage, what: "\(source):\(ResourceAddress(address)) cannot be the name of a book",
            why: "the address holds a secret, and names of books are shown and stored",
            remedy: "write the address alone, without '\(source):' before it")
    }
}

extension ResourceAddress {
    fileprivate var isWithoutUser: Bool { Authorization(userOf: self) == nil }
}
