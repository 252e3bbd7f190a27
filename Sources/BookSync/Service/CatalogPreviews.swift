import BookModel
import Foundation
import Logging
import Settings
import Synchronization
import Transport

/// Has catalogs be asked what they list, for those who think about it, a few at a time.
package actor CatalogPreviews {
    /// Each sends requests out, and somebody waits for it. Those of one server, which may be slow, leave room for others.
    private static let (maxPreviews, maxPreviewsPerServer) = (8, 2)
    private static let previewSeconds = 30.0

    private let configuration: Configuration
    private let logger: Logger
    private let host: any RunHost
    /// By their server.
    private var underWay: [String: Int] = [:]
    /// What can be listened to, the newest last, under a name that nobody guesses.
    private var samples: [(name: String, sample: PreviewAudio.Sample)] = []
    private static let maxSamples = 16
    /// The books that were looked at, the newest last.
    private var previewed: [(book: BookIdentity, title: String)] = []

    /// What books that were looked at a short time ago are called: a run may not have stored their listings yet.
    package var titles: [BookIdentity: String] { Dictionary(previewed.map { ($0.book, $0.title) }) { $1 } }

    init(_ configuration: Configuration, logger: Logger, host: any RunHost) {
        self.configuration = configuration
        self.logger = logger
        self.host = host
    }

    /// What the catalog of a book lists now; nothing is stored.
    /// - Returns: `sample` is what ``audio(of:_:)`` knows its first episode by; nil where all are locked.
    /// - Throws: ``Failure``: `temporary` while as many as may be are under way, and when the catalog takes too long.
    package func preview(_ reference: BookReference) async throws -> (preview: CatalogPreview, sample: String?) {
        let (configuration, logger, host) = (configuration, logger, host)
        let book = try configuration.book(reference)
        let (preview, sample) = try await asking(book, remedy: "download it: a run waits longer") {
            let recognised = try await configuration.recognising([reference], logger: logger)
            let book = try recognised.book(reference)
            try recognised.requireKnownSource(of: book)
            return try await host.withCatalogs(recognised, for: [book]) { configuration in
                let preview = try await CatalogPreview(of: book, configuration: configuration, logger: logger)
                return (preview, PreviewAudio.Sample(of: preview, asked: recognised))
            }
        }
        previewed.append((preview.book.identity, preview.book.title))
        if previewed.count > Self.maxSamples { previewed.removeFirst() }
        // The demo catalog's address is another one each time that it is asked.
        let isDemo = configuration.hasDemoCatalog && preview.book.identity.source == Configuration.demoSource
        guard let sample, !isDemo else { return (preview, nil) }
        let name = String(UInt64.random(in: 0 ... .max), radix: 36)
        samples.append((name, sample))
        if samples.count > Self.maxSamples { samples.removeFirst() }
        return (preview, name)
    }

    /// Part of the first episode of a book that was looked at a short time ago.
    /// - Returns: nil where there are no such bytes, or no such preview is remembered.
    /// - Throws: as ``preview(_:)`` does.
    package func audio(of name: String, _ range: Range<Int64>) async throws -> PreviewAudio? {
        guard let sample = samples.last(where: { $0.name == name })?.sample else { return nil }
        let (book, logger, host) = (sample.episode.identity.book, logger, host)
        return try await asking(book, remedy: "try again later") {
            try await host.withCatalogs(sample.configuration, for: [book]) { configuration in
                try await withHTTPTransport(options: configuration.transportOptions, logger: logger) { transport in
                    do {
                        return try await sample.audio(range, over: transport)
                    } catch let error as TransportError {
                        throw sample.refusal(error.why)
                    }
                }
            }
        }
    }

    /// Has something be asked of a book's catalog while it is its turn, and for so long only.
    private func asking<Answer: Sendable>(
        _ book: BookIdentity, remedy: Message, _ ask: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        func refusal(_ why: Message, _ remedy: Message) -> Failure {
            Failure(.temporary, what: "\(book) cannot be looked at now", why: why, remedy: remedy)
        }
        let server = configuration.catalogServer(of: book)
        let (all, ofServer) = (underWay.values.reduce(0, +), underWay[server, default: 0])
        guard all < Self.maxPreviews, ofServer < Self.maxPreviewsPerServer else {
            throw refusal(
                all < Self.maxPreviews
                    ? "\(ofServer) previews are waiting for its server" : "\(all) catalogs are being asked",
                "try again when one of them is done")
        }
        underWay[server] = ofServer + 1
        defer { underWay[server] = underWay[server].flatMap { $0 > 1 ? $0 - 1 : nil } }
        guard let answer = try await limited(to: Self.previewSeconds, ask) else {
            throw refusal("its catalog is not read after \(Int(Self.previewSeconds)) s", remedy)
        }
        return answer
    }
}
