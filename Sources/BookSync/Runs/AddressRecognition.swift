import BookModel
import CatalogFetcher
import Foundation
import Logging
import NIOCore
import Transport

// Which book an address names. Some addresses say it themselves, some are known from the shelf; of the others the
// answer tells.

extension Configuration {
    /// The book at an address, as far as that is known without asking: what was recognised, else what the address itself
    /// says. Where neither tells, it is taken for a feed's.
    func book(at address: ResourceAddress) -> BookIdentity {
        recognised[address] ?? named(by: address)
            ?? BookIdentity(source: source(for: .feed, at: address), id: FeedSettings.bookID(of: address))
    }

    /// What an address says by itself.
    private func named(by address: ResourceAddress) -> BookIdentity? {
        for kind in SourceKind.allCases {
            guard let id = kind.format.bookID(in: address) else { continue }
            if kind == .bookResource, sources.values.allSatisfy({ $0.kind != kind }) { continue }
            return BookIdentity(source: source(for: kind, at: address), id: id)
        }
        return nil
    }

    /// The source of that kind that an address belongs to: one on the same server, else the first that is configured,
    /// else the one that needs no configuration.
    private func source(for kind: SourceKind, at address: ResourceAddress) -> String {
        let candidates = sources.values.filter { $0.kind == kind }.sorted { $0.name < $1.name }
        return (candidates.first { $0.url?.server == address.server } ?? candidates.first)?.name ?? kind.rawValue
    }

    /// Takes an address for one of that kind, whatever it looks like. A REF that names its source stays what it is.
    package mutating func take(_ reference: BookReference, as kind: SourceKind) {
        guard let address = reference.address else { return }
        let id =
            kind.format.bookID(in: address)
            ?? (kind == .feed ? FeedSettings.bookID(of: address) : address.withoutSecrets)
        recognised[address] = BookIdentity(source: source(for: kind, at: address), id: id)
    }

    /// Finds out which books the addresses among the references name, and those among the subscriptions where these are
    /// asked for too, so that ``book(_:)`` knows. A subscription whose address cannot be asked does not hold up the others.
    ///
    /// - Throws: ``Failure`` when an address among the references cannot be asked, or is none of a catalog.
    package func recognising(
        _ references: [BookReference], andSubscriptions: Bool = false, logger: Logger
    ) async throws -> Configuration {
        let named = references.compactMap(\.address)
        let subscribed = andSubscriptions ? subscriptions.compactMap(\.reference.address) : []
        guard !named.isEmpty || !subscribed.isEmpty else { return self }
        let shelf = try await ShelfReader.read(library) { try await $0.books().map(\.book.identity) } ?? []
        var configuration = self
        try await withHTTPTransport(options: transportOptions, logger: logger) { transport in
            for address in named where configuration.recognised[address] == nil {
                configuration.recognised[address] = try await book(at: address, shelf: shelf, transport: transport)
            }
            let unknown = subscribed.filter { configuration.recognised[$0] == nil }
            let found = await books(at: unknown, shelf: shelf, transport: transport, logger: logger)
            try Task.checkCancellation()
            configuration.recognised.merge(found) { known, _ in known }
        }
        return configuration
    }

    /// Addresses that are asked at once: one that does not answer must not have each of the others wait for it.
    private static let recognitionJobs = 8

    /// Those of the addresses that are recognised.
    private func books(
        at addresses: [ResourceAddress], shelf: [BookIdentity], transport: HTTPTransport, logger: Logger
    ) async -> [ResourceAddress: BookIdentity] {
        await withTaskGroup(of: (ResourceAddress, BookIdentity?).self) { group in
            var found: [ResourceAddress: BookIdentity] = [:]
            var waiting = addresses[...]
            func askNext() {
                guard let address = waiting.popFirst() else { return }
                group.addTask {
                    do {
                        return (address, try await book(at: address, shelf: shelf, transport: transport))
                    } catch {
                        logger.info("an address is not recognised", metadata: ["why": "\(error)"])
                        return (address, nil)
                    }
                }
            }
            for _ in 0..<Self.recognitionJobs { askNext() }
            for await (address, book) in group {
                found[address] = book
                askNext()
            }
            return found
        }
    }

    private func book(
        at address: ResourceAddress, shelf: [BookIdentity], transport: HTTPTransport
    ) async throws -> BookIdentity {
        if let book = named(by: address) { return book }
        let ids = [FeedSettings.bookID(of: address), address.withoutSecrets]
        let known = shelf.first { book in
            ids.contains(book.id) && [.feed, .directory].contains(source(named: book.source)?.kind)
        }
        if let known { return known }
        let answer = try await CatalogAnswer(from: address, over: transport.using(access(at: address)))
        for kind in SourceKind.recognitionOrder {
            guard let id = kind.format.bookID(in: answer) else { continue }
            if kind == .bookResource, sources.values.allSatisfy({ $0.kind != kind }) { continue }
            return BookIdentity(source: source(for: kind, at: address), id: id)
        }
        throw Failure(
            .unreadableCatalog, what: "\(address) cannot be read as a catalog",
            why: "it is no feed, archive item, LibriVox book, book-resource page or directory",
            remedy: "look whether the address is that of the book's feed or folder")
    }
}

extension BookReference {
    var address: ResourceAddress? {
        if case .address(let address) = target { address } else { nil }
    }
}

extension SourceKind {
    /// Those that are told for sure come before a directory, which any page with links might be.
    static let recognitionOrder: [SourceKind] = [.feed, .bookResource, .librivox, .internetArchive, .directory]
}

extension CatalogAnswer {
    /// A catalog shows what it is long before its end.
    private static let beginning = 4 << 20

    /// Asks for an address, which the listener gave, and keeps the beginning of the answer.
    ///
    /// - Throws: ``Failure``; `CancellationError`.
    init(from address: ResourceAddress, over transport: HTTPTransport) async throws {
        let what = "\(address) cannot be asked what it is"
        do {
            let answer = try await transport.send(WireRequest(.get, address))
            switch answer.status {
            case 200..<300: break
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
            var bytes: [UInt8] = []
            for try await part in answer.body {
                bytes += part.readableBytesView
                if bytes.count >= Self.beginning { break }
            }
            self.init(bytes: bytes, address: answer.address, contentType: answer.first("Content-Type"))
        } catch let failure as WireFailure {
            throw Failure(
                .catalogUnavailable, what: what, why: failure.why,
                remedy: failure.remedy ?? "check the address, or try again later")
        }
    }
}
