import BookModel
import CatalogFetcher
import CatalogStore
import Logging
import Settings
import Synchronization
import Transport

/// Looks up the chapters that catalogs give of episodes whose files have none. That there are none to be had is no failure.
final class ChapterLookup: Sendable {
    private let configuration: Configuration
    private let store: CatalogStore
    private let transport: HTTPTransport
    private let logger: Logger
    /// Servers that did not answer: they are not waited for episode by episode.
    private let silent = Mutex<Set<WebOrigin>>([])

    init(configuration: Configuration, store: CatalogStore, transport: HTTPTransport, logger: Logger) {
        (self.configuration, self.store, self.transport, self.logger) = (configuration, store, transport, logger)
    }

    @Sendable func chapters(of file: LocalFile, within seconds: Double?) async -> [MediaInfo.Chapter] {
        var origin: WebOrigin?
        do {
            guard let episode = try await store.episode(file.episode)?.episode,
                let chapters = CatalogChapters(of: episode)
            else { return [] }
            origin = chapters.address.flatMap(WebOrigin.init)
            let isSilent = origin.map { origin in silent.withLock { $0.contains(origin) } } ?? false
            return try await chapters.read(
                within: seconds,
                over: isSilent ? nil : transport.using(configuration.access(of: file.episode.book)))
        } catch {
            if (error as? TransportError)?.disposition == .retry, let origin {
                silent.withLock { _ = $0.insert(origin) }
            }
            logger.info("no chapters", metadata: ["episode": "\(file.episode)", "why": "\(Failure.of(error).why)"])
            return []
        }
    }
}
