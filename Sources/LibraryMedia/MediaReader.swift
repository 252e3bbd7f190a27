import BookModel
import CatalogStore
import Foundation
import LibraryFiles
import MediaProbe

/// Reads what the audio files of a library say of themselves, and records it: durations, chapters, tags.
package struct MediaReader: Sendable {
    /// The chapters that the catalog gives of a file that plays for so many seconds and has none itself.
    package typealias CatalogChapters = @Sendable (LocalFile, _ seconds: Double?) async -> [MediaInfo.Chapter]

    /// Files that are read or wait for their turn, so that the turn never waits for them.
    private static let maxWaiting = 4

    private let probe: MediaProbe
    private let library: String
    private let store: CatalogStore
    private let files: AsyncStream<LocalFile>
    private let input: AsyncStream<LocalFile>.Continuation
    private let catalogChapters: CatalogChapters

    /// - Parameter library: absolute.
    package init(
        _ probe: MediaProbe, library: String, store: CatalogStore,
        catalogChapters: @escaping CatalogChapters = { _, _ in [] }
    ) {
        (self.probe, self.library, self.store) = (probe, library, store)
        self.catalogChapters = catalogChapters
        (files, input) = AsyncStream.makeStream()
    }

    /// Has a file be read that is in the library now.
    package func add(_ file: LocalFile) { input.yield(file) }

    /// Nothing more comes.
    package func finish() { input.finish() }

    /// Reads what comes, until nothing more does or the task is cancelled. A file that cannot be read as audio is none of the
    /// run's failures.
    /// - Returns: why nothing could be read any more; nil where that was possible.
    package func run() async -> Message? {
        await withTaskGroup(of: Failure?.self) { group in
            var (waiting, trouble) = (0, Failure?.none)
            for await file in files {
                if waiting == Self.maxWaiting {
                    trouble = await group.next() ?? nil
                    waiting -= 1
                }
                if trouble != nil { break }
                group.addTask { await read(file) }
                waiting += 1
            }
            for await failure in group { trouble = trouble ?? failure }
            return trouble.map { "durations and chapters of the files are not read: \($0.why)" }
        }
    }

    /// - Returns: what would keep every other file from being read as well.
    private func read(_ file: LocalFile) async -> Failure? {
        let path = library + "/" + file.path
        do {
            do {
                var info = try await probe.info(of: path)
                if info.chapters.isEmpty { info.takeCatalogs(await catalogChapters(file, info.duration)) }
                try await store.record(.success(info), of: file)
            } catch let failure as Failure where failure.disposition == .skip {
                // One that was renamed or replaced meanwhile is read when somebody verifies the library.
                guard try await runBlocking({ fileSize(path) }) == file.size else { return nil }
                try await store.record(.failure(failure), of: file)
            }
            return nil
        } catch {
            return error is CancellationError ? nil : Failure.of(error)
        }
    }
}
