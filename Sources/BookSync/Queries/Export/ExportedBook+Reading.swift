import BookModel
import CatalogStore
import LibraryFiles
import Settings

extension ExportedBook {
    /// - Parameters:
    ///   - filter: which of its episodes; nil for none, where only the book itself is asked for.
    ///   - isRunUnderWay: whether what is recorded as under way is.
    /// - Returns: nil when the store does not know the book.
    package init?(
        _ book: BookIdentity, filter: EpisodeFilter?, library: String, store: CatalogStore, isRunUnderWay: Bool = true
    ) async throws {
        guard let shelved = try await store.books([book]).first else { return nil }
        let episodes =
            if let filter { try await store.episodes(of: book).selected(by: filter) } else { [EpisodeRecord]() }
        self.init(
            book: shelved.book, episodes: episodes.map { $0.effective(isRunUnderWay: isRunUnderWay) },
            library: library, folder: shelved.path.map { $0 == "." ? "" : $0 })
    }

    /// The content of a file of that kind.
    /// - Parameters:
    ///   - path: absolute; where it is to lie.
    ///   - cover: absolute; where the book's cover is.
    package func document(_ kind: ExportKind, at path: String, cover: String? = nil) throws -> [UInt8] {
        switch kind {
        case .m3u8: Array(PlaylistDocument.text(of: self, in: String(splitLibraryPath(path).folder)).utf8)
        case .opf: try PackageDocument.bytes(of: self)
        case .metadata: Array(MetadataDocument.text(of: self).utf8)
        case .rss: try FeedExport(self, at: path, cover: cover).bytes()
        case .csv: Array(EpisodeTable.text(of: [self]).utf8)
        case .cover: []
        }
    }
}
