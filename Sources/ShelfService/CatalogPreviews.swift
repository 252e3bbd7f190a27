import BookModel
import BookSync
import Foundation
import Logging
import Settings
import Synchronization

/// Has catalogs be asked what they list, for those who think about it, a few at a time.
package actor CatalogPreviews {
    /// Each sends requests out, and somebody waits for it. Those of one server, which may be slow, leave room for others.
    private static let (maxPreviews, maxPreviewsPerServer) = (8, 2)
    private static let previewSeconds = 30.0

    private let configuration: Configuration
    private let logger: Logger
    private let withCatalogs: RunQueue.Runner.CatalogAccess
    /// By their server.
    private var underWay: [String: Int] = [:]

    init(
        _ configuration: Configuration, logger: Logger, withCatalogs: @escaping RunQueue.Runner.CatalogAccess
    ) {
        self.configuration = configuration
        self.logger = logger
        self.withCatalogs = withCatalogs
    }

    /// What the catalog of a book lists now; nothing is stored.
    /// - Throws: ``Failure``: `temporary` while as many as may be are under way, and when the catalog takes too long.
    package func preview(_ reference: BookReference) async throws -> CatalogPreview {
        func refusal(_ why: Message, _ remedy: Message) -> Failure {
            Failure(.temporary, what: "\(reference) cannot be looked at now", why: why, remedy: remedy)
        }
        let server = configuration.catalogServer(of: try configuration.book(reference))
        let (all, ofServer) = (underWay.values.reduce(0, +), underWay[server, default: 0])
        guard all < Self.maxPreviews, ofServer < Self.maxPreviewsPerServer else {
            throw refusal(
                all < Self.maxPreviews
                    ? "\(ofServer) previews are waiting for its server" : "\(all) catalogs are being asked",
                "try again when one of them is done")
        }
        underWay[server] = ofServer + 1
        defer { underWay[server] = underWay[server].flatMap { $0 > 1 ? $0 - 1 : nil } }
        let (configuration, logger, withCatalogs) = (configuration, logger, withCatalogs)
        let found = FoundPreview()
        let answer: Void? = try await limited(to: Self.previewSeconds) {
            let recognised = try await configuration.recognising([reference], logger: logger)
            let book = try recognised.book(reference)
            try recognised.requireKnownSource(of: book)
            _ = try await withCatalogs(recognised, [book]) { configuration in
                found.set(try await CatalogPreview(of: book, configuration: configuration, logger: logger))
                return RunReport()
            }
        }
        guard answer != nil else {
            throw refusal(
                "its catalog is not read after \(Int(Self.previewSeconds)) s", "download it: a run waits longer")
        }
        guard let preview = found.preview else {
            throw Failure(.defect, what: "\(reference) cannot be looked at", why: "its catalog was not asked")
        }
        return preview
    }
}

/// Brings a preview out of the execution that made it.
private final class FoundPreview: Sendable {
    private let found = Mutex<CatalogPreview?>(nil)

    var preview: CatalogPreview? { found.withLock { $0 } }

    func set(_ preview: CatalogPreview) { found.withLock { $0 = preview } }
}
