import BookModel
import CatalogFetcher
import Foundation
import Logging
import Synchronization
import Transport

/// Whether the sources answer, each asked once: for the first page of a book that is known of it, else for nothing but an
/// answer.
struct SourceDiagnosis: Sendable {
    let configuration: Configuration
    let logger: Logger

    /// Seconds that a source may take in all.
    private static let patience = 10.0
    /// Seconds between two clocks at which one of them is wrong, and not only late.
    private static let greatestSkew = 300.0

    /// All sources are asked at the same time.
    /// - Parameter knownBooks: those to be asked for first come first.
    /// - Throws: `CancellationError`.
    func findings(knownBooks: [BookIdentity]) async throws -> [Finding] {
        var books: [String: BookIdentity] = [:]
        for book in knownBooks where books[book.source] == nil { books[book.source] = book }
        let known = books
        let used = Set(books.keys).filter { configuration.sources[$0] == nil && configuration.source(named: $0) != nil }
        let names = configuration.sources.keys.sorted() + used.sorted()
        guard !names.isEmpty else {
            return [.ok("sources", "none is configured; the built-in demo catalog is used")]
        }
        var hurried = configuration
        hurried.downloads.retries = 0
        hurried.downloads.connectTimeout = min(5, hurried.downloads.connectTimeout)
        hurried.downloads.stallTimeout = min(Self.patience, hurried.downloads.stallTimeout)
        let asked = hurried
        return try await withHTTPTransport(options: asked.transportOptions, logger: logger) { transport in
            try await withThrowingTaskGroup(of: (Int, Finding).self) { group in
                for (index, name) in names.enumerated() {
                    guard let source = asked.source(named: name) else { continue }
                    group.addTask {
                        (
                            index,
                            try await Self.finding(
                                of: source, book: known[name], configuration: asked, transport: transport)
                        )
                    }
                }
                var findings: [(Int, Finding)] = []
                for try await finding in group { findings.append(finding) }
                return findings.sorted { $0.0 < $1.0 }.map(\.1)
            }
        }
    }

    private static func finding(
        of source: SourceConfiguration, book: BookIdentity?, configuration: Configuration, transport: HTTPTransport
    ) async throws -> Finding {
        let check = "source \(source.name)"
        let clock = ServerClock()
        let transport = transport.noting(clock.note)
        var finding = try await Finding.of(check) {
            try source.requireVariables()
            let answered = try await limited(to: patience) {
                try await ask(source, for: book, configuration: configuration, transport: transport)
            }
            guard let answered else {
                throw Failure(
                    .catalogUnavailable, what: "it does not answer", why: "no answer within \(Int(patience)) seconds",
                    remedy: "see whether the network and the catalog's server work")
            }
            return answered
        }
        if finding.kind == .unknownBook {
            finding.status = .warning
            finding.kind = nil
        }
        if finding.status == .ok, let skew = clock.skew, abs(skew) > greatestSkew {
            let apart = Duration.seconds(abs(skew)).formatted(.units(allowed: [.days, .hours, .minutes], width: .wide))
            return .warning(
                check, finding.message + "; its clock is \(apart) \(skew > 0 ? "ahead of" : "behind") this machine's",
                remedy: "see that this machine's clock is right (timedatectl)")
        }
        return finding
    }

    private static func ask(
        _ source: SourceConfiguration, for book: BookIdentity?, configuration: Configuration, transport: HTTPTransport
    ) async throws -> Finding {
        let check = "source \(source.name)"
        if let book = book ?? source.onlyBook {
            try await askForFirstPage(of: book, configuration: configuration, transport: transport)
            return .ok(check, "it answers, asked for \(book.id)")
        }
        guard let address = source.ownAddress else {
            return .ok(check, "not asked: its books have addresses of their own, and none is known yet")
        }
        do {
            // Without a book no credentials can be tried, and any answer at all will do.
            let answer = try await transport.using(configuration.access(at: address))
                .send(WireRequest(.head, address))
            return .ok(check, "\(address.server) answers (\(answer.status)); no book of it is known to be asked for")
        } catch let failure as WireFailure {
            throw Failure(
                .catalogUnavailable, what: "\(address.server) does not answer", why: failure.why,
                remedy: failure.remedy ?? "see whether the network and the catalog's server work")
        }
    }

    private static func askForFirstPage(
        of book: BookIdentity, configuration: Configuration, transport: HTTPTransport
    ) async throws {
        var configuration = configuration
        // Sub-folders would each be a request.
        configuration.sources[book.source]?.depth = 1
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

    /// Seconds that the server's clock is ahead; nil when it did not say.
    var skew: Double? { seconds.withLock { $0 } }

    var note: @Sendable (WireAnswer) -> Void {
        { answer in
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
        case .bookResource, .directory: url
        }
    }

    /// The book of a source that has one alone: a feed whose address has no place for an id.
    fileprivate var onlyBook: BookIdentity? {
        guard kind == .feed, let url, !url.secretText.contains("{id}") else { return nil }
        return BookIdentity(source: name, id: FeedSettings.bookID(of: url))
    }
}
