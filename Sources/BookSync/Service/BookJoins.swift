import AudioFiles
import BookModel
import CatalogStore
import LibraryFiles
import Settings
import Synchronization

/// Makes one file of each book that somebody asks for, as `downloads.join` says, or M4B.
package final class BookJoins: Sendable {
    private let configuration: Configuration
    private let probe: MediaProbe
    /// From 0 to 1, of the books that are being joined.
    private let done = Mutex<[BookIdentity: Double]>([:])
    /// The one that was prepared last, and knows its files.
    private let prepared = Mutex<(book: BookIdentity, join: BookJoin)?>(nil)

    /// - Parameter probe: with ffmpeg.
    package init(_ configuration: Configuration, probe: MediaProbe) {
        (self.configuration, self.probe) = (configuration, probe)
    }

    /// How much of a book is joined, from 0 to 1; 0 for one that waits.
    package func progress(of book: BookIdentity) -> Double { done.withLock { $0[book] ?? 0 } }

    private func join(_ book: BookIdentity) -> BookJoin {
        let format = JoinFormat(rawValue: configuration.downloads.join.rawValue) ?? .m4b
        return BookJoin(
            library: configuration.library, request: JoinRequest(format: format), probe: probe,
            minFreeSpace: configuration.downloads.minFreeSpace
        ) { [self] progress in
            let bytes = progress.run.bytes
            done.withLock { $0[book] = Double(bytes.bytesDone) / Double(max(1, bytes.total ?? 1)) }
        }
    }

    /// What was made of a book earlier, and whether it is of the episodes as they are now.
    /// - Returns: `index` is what ``ServedShelf/joinedFile(_:of:of:)`` knows a file by.
    package func existing(
        of book: Book, on shelf: ShelfReader
    ) async throws -> (files: [(index: Int, file: JoinedFile)], isUpToDate: Bool) {
        let (files, isUpToDate) = try await join(book.identity).existing(of: book, store: shelf.store)
        let all = try await shelf.store.joinedFiles(of: book.identity)
        return (all.enumerated().map { ($0.offset, $0.element) }.filter { files.contains($0.1) }, isUpToDate)
    }

    /// Encodes the episodes; see ``BookJoin/prepare(_:store:)``.
    func prepare(_ book: BookIdentity) async throws {
        done.withLock { $0[book] = nil }
        guard let store = try await LibraryFolder.readableStore(in: configuration.library) else { return }
        let join = join(book)
        do {
            try await store.closing { try await join.prepare([book], store: store) }
            prepared.withLock { $0 = (book, join) }
        } catch {
            // Cancelled.
            done.withLock { $0[book] = nil }
            throw error
        }
    }

    func execute(_ book: BookIdentity, store: CatalogStore) async throws {
        defer { done.withLock { $0[book] = nil } }
        var failure: Failure?
        let last = prepared.withLock { $0.take() }
        let join = last?.book == book ? last?.join : nil
        try await (join ?? self.join(book)).execute([book], store: store) { failure = failure ?? $0.failure }
        if let failure { throw failure }
    }
}
