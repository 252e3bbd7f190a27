import BookModel
import CatalogFetcher
import Foundation
import Logging
import Settings
import Synchronization
import Transport

/// Whether the sources answer: each of their catalog servers is asked once, for the first page of a book that is known of
/// it, or where none is known for nothing but an answer.
struct SourceDiagnosis: Sendable {
    let configuration: Configuration
    let logger: Logger

    /// Seconds that a source may take in all.
    private static let patience = 10.0
    /// Seconds between two clocks at which one of them is wrong, and not only late.
    private static let maxSkew = 300.0

    /// All sources are asked at the same time.
    /// - Parameters:
    ///   - subscribed: the books that a run asks for; they are asked for first.
    ///   - others: known ones besides.
    /// - Throws: `CancellationError`.
    func findings(subscribed: [BookIdentity], others: [BookIdentity]) async throws -> [Finding] {
        var books: [String: [BookIdentity]] = [:]
        var servers: Set<String> = []
        for book in subscribed + others {
            let server = "\(book.source) \(configuration.catalogServer(of: book))"
            if servers.insert(server).inserted { books[book.source, default: []].append(book) }
        }
        let used = Set(books.keys).filter { configuration.sources[$0] == nil && configuration.source(named: $0) != nil }
        let names = configuration.sources.keys.sorted() + used.sorted()
        let inquiries = names.flatMap { name in
            books[name]?.map { Inquiry(source: name, book: $0, isSubscribed: subscribed.contains($0)) }
                ?? [Inquiry(source: name)]
        }
        guard !names.isEmpty else {
            return [.ok("sources", "none is configured; books are named by their addresses")]
        }
        var hurried = configuration
        hurried.downloads.retries = 0
        hurried.downloads.connectTimeout = min(5, hurried.downloads.connectTimeout)
        hurried.downloads.stallTimeout = min(Self.patience, hurried.downloads.stallTimeout)
        let asked = hurried
        return try await withHTTPTransport(options: asked.transportOptions, logger: logger) { transport in
            try await inquiries.concurrentMap(atOnce: inquiries.count) { inquiry -> Finding? in
                guard let source = asked.source(named: inquiry.source) else { return nil }
                return try await Self.finding(of: source, inquiry, configuration: asked, transport: transport)
            }.compactMap(\.self)
        }
    }

    /// What one server is asked.
    private struct Inquiry {
        var source: String
        var book: BookIdentity?
        var isSubscribed = false
    }

    private static func finding(
        of source: SourceConfiguration, _ inquiry: Inquiry, configuration: Configuration, transport: HTTPTransport
    ) async throws -> Finding {
        let check: Message = "source \(source.name)"
        let clock = ServerClock()
        var transport = transport
        transport.note = clock.note
        var finding = try await Finding.of(check) { [transport] in
            try source.requireVariables()
            let answered = try await limited(to: patience) {
                try await ask(source, for: inquiry.book, configuration: configuration, transport: transport)
            }
            if answered == nil, clock.hasAnswered {
                return .ok(check, "it answers, and takes longer than \(Int(patience)) seconds for a whole book")
            }
            guard let answered else {
                throw Failure(
                    .catalogUnavailable, what: "it does not answer", why: "no answer within \(Int(patience)) seconds",
                    remedy: "see whether the network and the catalog's server work")
            }
            return answered
        }
        if finding.kind == .unknownBook, !inquiry.isSubscribed {
            finding.status = .warning
            finding.kind = nil
        }
        if finding.status == .ok, let skew = clock.skew, abs(skew) > maxSkew {
            let apart = describeSeconds(abs(skew))
            return .warning(
                check,
                skew > 0
                    ? "\(finding.message); its clock is \(apart) ahead of this machine's"
                    : "\(finding.message); its clock is \(apart) behind this machine's",
                remedy: "see that this machine's clock is right (timedatectl)")
        }
        return finding
    }

    private static func ask(
        _ source: SourceConfiguration, for book: BookIdentity?, configuration: Configuration, transport: HTTPTransport
    ) async throws -> Finding {
        let check: Message = "source \(source.name)"
        // A feed whose address has no place for an id is of one book.
        let onlyBook = source.onlyFeed.map { BookIdentity(source: source.name, id: FeedSettings.bookID(of: $0)) }
        if let book = book ?? onlyBook {
            try await askForFirstPage(of: book, configuration: configuration, transport: transport)
            return .ok(check, "it answers, asked for \(book.id)")
        }
        guard let address = source.ownAddress else {
            return .ok(check, "not asked: its books have addresses of their own, and none is known yet")
        }
        do {
            // Several sources may be on one server, each with credentials of its own.
            let answer = try await transport.using(configuration.access(to: source))
                .send(HTTPRequest(.head, address))
            return try finding(check, of: answer, from: source, at: address)
        } catch let failure as TransportError {
            throw Failure(
                .catalogUnavailable, what: "\(address.server) does not answer", why: failure.why,
                remedy: failure.remedy ?? "see whether the network and the catalog's server work")
        }
    }

    /// What an answer says that no book was asked for: an address without a book may well be refused or unknown.
    private static func finding(
        _ check: Message, of answer: HTTPResponse, from source: SourceConfiguration, at address: ResourceAddress
    ) throws -> Finding {
        let what: Message = "\(address.server) answers with HTTP status \(answer.status)"
        switch answer.status {
        case 401 where source.query.isEmpty && source.signature == nil, 407:
            throw Failure(
                .credentialsRejected, what: what, why: "it wants other credentials than it was sent",
                remedy: "check the user and password, or the token, of \(source.name)")
        case 401, 403, 404, 410:
            return .warning(
                check, "\(what), and there is no book to test it with",
                remedy: "booksync catalog \(source.name):ID asks it for a book")
        // What it cannot do for HEAD (501, 405) it may well do for GET.
        case 429, 500, 502...599:
            throw Failure(.catalogUnavailable, what: what, why: "it is busy or out of order", remedy: "try again later")
        default: return .ok(check, "\(what); there is no book to test it with")
        }
    }

    private static func askForFirstPage(
        of book: BookIdentity, configuration: Configuration, transport: HTTPTransport
    ) async throws {
        do {
            _ = try await configuration.catalogSource(for: book, transport: transport).list(book) { _ in
                throw FirstPageIsThere()
            }
        } catch is FirstPageIsThere {
            return
        }
    }
}

/// Ends a listing that has shown enough.
private struct FirstPageIsThere: Error {}

/// What the `Date` of a server's answers says beside this machine's clock.
private final class ServerClock: Sendable {
    private let seconds = Mutex<Double?>(nil)
    private let answers = Atomic(0)

    /// Seconds that the server's clock is ahead; nil when it did not say.
    var skew: Double? { seconds.withLock { $0 } }
    var hasAnswered: Bool { answers.load(ordering: .relaxed) > 0 }

    var note: @Sendable (HTTPResponse) -> Void {
        { answer in
            self.answers.add(1, ordering: .relaxed)
            guard let date = answer.first("Date").flatMap(HTTPDate.seconds(parsing:)) else { return }
            let skew = Double(date) - Date().timeIntervalSince1970
            self.seconds.withLock { $0 = skew }
        }
    }
}

extension SourceConfiguration {
    /// Where its catalog is; nil where books have addresses of their own.
    fileprivate var ownAddress: ResourceAddress? {
        switch kind {
        case .librivox: url ?? LibriVoxSettings.standardAddress
        case .internetArchive: url ?? InternetArchiveSettings.standardAddress
        // What is to be filled in is part of no address.
        case .feed: url.map { ResourceAddress(String($0.secretText.prefix { $0 != "{" })) }
        case .audiobookshelf: url.map { AudiobookshelfSettings(address: $0).librariesAddress }
        case .bookResource, .directory, .opds: url
        }
    }
}
