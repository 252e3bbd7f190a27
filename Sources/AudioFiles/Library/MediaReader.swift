import BookModel
import CatalogStore
import Foundation
import LibraryFiles
import Synchronization

/// Reads what the audio files of a library say of themselves, and records it: durations, chapters, tags.
///
/// A file of which the store has no record is not read yet. Whoever reads files needs no lock, and may stop at any time: what is
/// left is read by the next run, by `verify`, or by a server that has nothing else to do.
package final class MediaReader: Sendable {
    /// The chapters that the catalog gives of a file that plays for so many seconds and has none itself.
    package typealias CatalogChapters = @Sendable (LocalFile, _ seconds: Double?) async -> [MediaInfo.Chapter]

    /// Files that are read or wait for their turn, so that the turn never waits for them.
    private static let maxWaiting = 4
    /// Bytes at the beginning of a file that are looked at before a program is started for it.
    private static let beginning = 64 << 10

    private let probe: MediaProbe
    private let library: String
    private let store: CatalogStore
    private let files: AsyncStream<LocalFile>
    private let input: AsyncStream<LocalFile>.Continuation
    private let catalogChapters: CatalogChapters
    private let trustsCatalog: Bool
    private let left = Mutex(0)
    private let onChange: @Sendable (Int) -> Void

    /// - Parameters:
    ///   - library: absolute.
    ///   - trustsCatalog: whether a file is left for which catalog, length and first bytes agree.
    ///   - onChange: is told how many files are still to be read.
    package init(
        _ probe: MediaProbe, library: String, store: CatalogStore,
        trustsCatalog: Bool = false, catalogChapters: @escaping CatalogChapters = { _, _ in [] },
        onChange: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        (self.probe, self.library, self.store) = (probe, library, store)
        (self.catalogChapters, self.onChange) = (catalogChapters, onChange)
        self.trustsCatalog = trustsCatalog
        (files, input) = AsyncStream.makeStream()
    }

    /// Has files be read that are in the library now.
    package func add(_ files: [LocalFile]) {
        change(by: files.count)
        for file in files { input.yield(file) }
    }

    private func change(by count: Int) {
        onChange(
            left.withLock { left in
                left += count
                return left
            })
    }

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
                group.addTask { await self.read(file) }
                waiting += 1
            }
            for await failure in group { trouble = trouble ?? failure }
            return trouble.map { "durations and chapters of the files are not read: \($0.why)" }
        }
    }

    /// - Returns: what would keep every other file from being read as well.
    private func read(_ file: LocalFile) async -> Failure? {
        defer { change(by: -1) }
        let path = library + "/" + file.path
        do {
            // One that was renamed or replaced meanwhile is read later.
            guard try await runBlocking({ fileSize(path) }) == file.size else { return nil }
            do {
                var chapters: [MediaInfo.Chapter]?
                if let seconds = try await catalogDuration(of: file, at: path) {
                    chapters = await catalogChapters(file, seconds)
                    if chapters?.isEmpty == true {
                        try await store.record(nil, of: file)
                        return nil
                    }
                }
                var info = try await probe.info(of: path)
                if info.chapters.isEmpty {
                    if chapters == nil { chapters = await catalogChapters(file, info.duration) }
                    info.takeCatalogs(chapters ?? [])
                }
                try await store.record(.success(info), of: file)
            } catch let failure as Failure where failure.disposition == .skip {
                guard try await runBlocking({ fileSize(path) }) == file.size else { return nil }
                try await store.record(.failure(failure), of: file)
            }
            return nil
        } catch {
            return error is CancellationError ? nil : Failure.of(error)
        }
    }

    /// Seconds that the catalog gives for the file, where its length is the declared one and its first bytes show an MP3 without
    /// chapters: then ffprobe has nothing to add that a list shows.
    private func catalogDuration(of file: LocalFile, at path: String) async throws -> Double? {
        guard trustsCatalog, file.verification != .unverified,
            let episode = try await store.episode(file.episode)?.episode,
            let seconds = episode.duration, episode.size == file.size
        else { return nil }
        let head = try await runBlocking { MediaProbe.beginning(of: path, Self.beginning) }
        guard head.count >= 10, head.range(of: Data("CHAP".utf8)) == nil else { return nil }
        // ID3v2.4 §3.1: a size of four times seven bits.
        let tag = head[6..<10].reduce(0) { $0 << 7 | Int($1 & 0x7F) }
        let isMP3 = head.starts(with: "ID3".utf8) ? tag < Self.beginning : head[0] == 0xFF && head[1] & 0xE0 == 0xE0
        return isMP3 ? seconds : nil
    }
}
