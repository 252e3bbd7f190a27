import BookModel
import CatalogStore
import DownloadEngine

/// Where the files of books may lie of which the store records none at all, because it was lost or is new, when the
/// naming wants them somewhere else: in folders that bear the book's title.
///
/// The whole library is listed for that, once, and only where the store knows of no file.
actor FormerFolders {
    private let library: String
    private let store: CatalogStore?
    private var search: Task<[SafeName.ComparisonKey: [String]], any Error>?

    init(library: String, store: CatalogStore?) {
        self.library = library
        self.store = store
    }

    /// Relative to the library.
    func folders(of book: Book) async throws -> [String] {
        let search =
            search
            ?? Task { [library, store] in
                guard try await store?.recordsNoFile ?? true else { return [:] }
                return try await Self.folders(below: library)
            }
        self.search = search
        let title = SafeName.component(SafeName.text(book.title))
        return try await search.value[SafeName.comparisonKey(title)] ?? []
    }

    private static func folders(below library: String) async throws -> [SafeName.ComparisonKey: [String]] {
        var folders: [SafeName.ComparisonKey: [String]] = [:]
        for (path, facts) in try await FolderScan.scanTrees([""], under: library) where facts.kind == .folder {
            folders[SafeName.comparisonKey(splitLibraryPath(path).name), default: []].append(path)
        }
        return folders
    }
}
