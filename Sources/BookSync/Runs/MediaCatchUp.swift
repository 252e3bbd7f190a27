import AudioFiles
import BookModel
import CatalogStore
import LibraryFiles
import Logging
import Settings
import Transport

extension Configuration {
    /// Reads what the runs of the library left unread of its files, without its lock. A store on a disk of several machines would
    /// be closed to everybody else meanwhile: there the next run or `verify` reads them.
    ///
    /// Returns when all is read, or the task is cancelled. What keeps it from reading is for the log: whatever else is asked of the
    /// library says it.
    package func catchUp(with probe: MediaProbe, logger: Logger) async {
        do {
            try Task.checkCancellation()
            let folder = LibraryFolder.existing(at: library)
            guard try await runBlocking({ !StoreCopy(of: folder).isStoreShared }),
                let readable = try await LibraryFolder.readableStore(in: library),
                try await readable.closing({ try await !readable.unreadFiles(limit: 1).isEmpty })
            else { return }
            try Task.checkCancellation()
            try await folder.writingStore { store in
                try await withHTTPTransport(options: transportOptions, logger: logger) { transport in
                    let reader = try await mediaReader(probe, store, over: transport, logger: logger)
                    reader.finish()
                    if let trouble = await reader.run() { logger.info("\(trouble)") }
                }
            }
        } catch {
            logger.info("durations are not read", metadata: ["why": "\(Failure.of(error).why)"])
        }
    }

    /// What reads the files of the library that were not read yet, with the chapters that catalogs give.
    /// - Parameter onChange: as ``MediaReader`` has it.
    func mediaReader(
        _ probe: MediaProbe, _ store: CatalogStore, over transport: HTTPTransport, logger: Logger,
        onChange: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws -> MediaReader {
        let lookup = ChapterLookup(configuration: self, store: store, transport: transport, logger: logger)
        let reader = MediaReader(
            probe, library: library, store: store, trustsCatalog: true, catalogChapters: lookup.chapters,
            onChange: onChange)
        reader.add(try await store.unreadFiles())
        return reader
    }
}
