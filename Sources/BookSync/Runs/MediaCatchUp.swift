import AudioFiles
import BookModel
import CatalogStore
import LibraryFiles
import Logging
import Settings
import Transport

/// Reads what the runs of a library left unread of its files, without its lock. A store on a disk of several machines would be
/// closed to everybody else meanwhile: there the next run or `verify` reads them.
package struct MediaCatchUp: Sendable {
    private let configuration: Configuration
    private let probe: MediaProbe
    private let logger: Logger

    package init(_ configuration: Configuration, probe: MediaProbe, logger: Logger) {
        (self.configuration, self.probe, self.logger) = (configuration, probe, logger)
    }

    /// Returns when all is read, or the task is cancelled. What keeps it from reading is for the log: whatever else is asked of the
    /// library says it.
    package func execute() async {
        do {
            try Task.checkCancellation()
            let library = configuration.library
            let folder = LibraryFolder.existing(at: library)
            guard try await runBlocking({ !StoreCopy(of: folder).isStoreShared }),
                let readable = try await LibraryFolder.readableStore(in: library),
                try await readable.closing({ try await !readable.unreadFiles(limit: 1).isEmpty })
            else { return }
            try Task.checkCancellation()
            try await folder.writingStore { store in
                try await withHTTPTransport(options: configuration.transportOptions, logger: logger) { transport in
                    let lookup = ChapterLookup(
                        configuration: configuration, store: store, transport: transport, logger: logger)
                    let reader = MediaReader(
                        probe, library: library, store: store, trustsCatalog: true, catalogChapters: lookup.chapters)
                    reader.add(try await store.unreadFiles())
                    reader.finish()
                    if let trouble = await reader.run() { logger.info("\(trouble)") }
                }
            }
        } catch {
            logger.info("durations are not read", metadata: ["why": "\(Failure.of(error).why)"])
        }
    }
}
