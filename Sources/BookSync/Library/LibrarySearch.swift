import BookModel
import CatalogStore
import DownloadEngine
import LibraryFiles
import SyncPlanner

/// Where a book's files may lie that are not where the store records them, or of which it records too few because it was
/// lost, is new or an older copy: those that bear marks of the book's episodes, those of certain sizes, those in folders that bear its title, and
/// those in folders whose files have its episodes' sizes.
///
/// The whole library is listed for that, once a run; files that the store records are left out.
actor LibrarySearch {
    struct Finds {
        /// To be listed with all that is below them; relative to the library.
        var folders: Set<String>
        /// Library-relative path → what a look into the marked file brought.
        var marked: [String: ExaminedFile]
    }

    private struct Listing {
        var foldersByTitle: [SafeName.ComparisonKey: [String]] = [:]
        var sizesByFolder: [Substring: Set<Int64>] = [:]
        var markedByBook: [BookIdentity: [String: ExaminedFile]] = [:]
        /// Library-relative path → facts, of all files.
        var untrackedFiles: [String: FileAttributes] = [:]
    }

    private let library: String
    private let store: CatalogStore?
    private var listing: Task<Listing, any Error>?

    init(library: String, store: CatalogStore?) {
        self.library = library
        self.store = store
    }

    private var found: Listing {
        get async throws {
            let listing =
                listing
                ?? Task { [library, store] in
                    try await Self.listing(of: library, without: try await store?.filePaths() ?? [])
                }
            self.listing = listing
            return try await listing.value
        }
    }

    /// Where files may be that were recorded: the whole library's that nobody else is recorded to have.
    ///
    /// - Parameter sizes: theirs, in bytes.
    func untrackedFiles(ofSizes sizes: Set<Int64>) async throws -> [String: FileAttributes] {
        try await found.untrackedFiles.filter { sizes.contains($0.value.size) }
    }

    /// - Parameter sizes: of the book's episodes, in bytes.
    func finds(for book: Book, sizes: Set<Int64>) async throws -> Finds {
        let found = try await found
        let title = SafeName.comparisonKey(SafeName.component(SafeName.text(book.title)))
        var folders = Set(found.foldersByTitle[title] ?? [])
        for (folder, stored) in found.sizesByFolder where !folder.isEmpty {
            // One size alone may be anybody's: parts of equal length have the same in every book.
            let common = stored.intersection(sizes).count
            if common >= 2, common * 2 >= stored.count { folders.insert(String(folder)) }
        }
        return Finds(folders: folders, marked: found.markedByBook[book.identity] ?? [:])
    }

    private static func listing(of library: String, without recorded: Set<String>) async throws -> Listing {
        var listing = Listing()
        var questions: [String: ProbeDepth] = [:]
        // A disk's own lost+found, say: what a user may not read holds nothing that a run put there.
        for (path, facts) in try await FolderScan.scanTrees([""], under: library, skipsForbidden: true)
        where !path.hasPrefix(LibraryFolder.joinedPath) {
            let (folder, name) = splitLibraryPath(path)
            switch facts.kind {
            case .folder: listing.foldersByTitle[SafeName.comparisonKey(name), default: []].append(path)
            case .file where facts.size > 0 && !recorded.contains(path):
                listing.untrackedFiles[path] = facts
                listing.sizesByFolder[folder, default: []].insert(facts.size)
                questions[path] = .beginning
            case .file, .symbolicLink, .other: break
            }
        }
        for (path, file) in try await FileExamination.examine(questions, in: library) {
            if let mark = file.mark { listing.markedByBook[mark.episode.book, default: [:]][path] = file }
        }
        return listing
    }
}
