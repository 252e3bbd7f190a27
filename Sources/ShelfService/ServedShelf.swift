import BookModel
import CatalogFetcher
import CatalogStore
import Foundation
import LibraryFiles
import Settings
import ShelfQueries

/// What a library gives to others: files, feeds, and a catalog that another booksync mirrors. It reads the store and the
/// disk, beside whatever run is under way, and changes neither.
///
/// Sources, books and episodes are called by their ``Slug``, or as the catalog calls them.
package struct ServedShelf: Sendable {
    package let configuration: Configuration
    /// Does the runs that clients ask for; nil where they can change nothing.
    package let desk: RunQueue?
    /// Who looks at it: what they may not see is not there.
    package private(set) var user = User.owner
    private let store: KeptStore

    package init(_ configuration: Configuration, desk: RunQueue? = nil) {
        self.configuration = configuration
        self.desk = desk
        store = KeptStore(library: configuration.library)
    }

    /// The same shelf, as somebody else has it.
    package func seen(by user: User) -> ServedShelf {
        var shelf = self
        shelf.user = user
        return shelf
    }

    /// Reads the store. A reading must not begin another.
    /// - Returns: what `body` makes of the shelf; nil when there is no library yet.
    package func read<Result: Sendable>(_ body: (ShelfReader) async throws -> Result) async throws -> Result? {
        let library = configuration.library
        return try await store.read { store in
            try await body(
                ShelfReader(
                    library: library, store: store, user: user,
                    isRunUnderWay: try await LibraryLock.isHeld(in: library)))
        }
    }

    /// Searches the store, see ``ShelfReader/search(_:for:limit:reading:)``.
    package func search(for text: String, limit: Int?) async throws -> ShelfReader.Found? {
        try await ShelfReader.search(configuration.library, for: text, limit: limit) { try await read($0) }
    }

    /// Those who log in with a name.
    /// - Returns: nil where that cannot be read now, or there is no library.
    package func users() async -> [User]? {
        do {
            return try await read { try await $0.store.users() }
        } catch {
            // Those that are known go on to be.
            return nil
        }
    }

    /// - Returns: nil when nothing on the shelf has this name.
    package func book(_ id: String, of source: String) async throws -> BookIdentity? {
        try await read { try await $0.book(id, of: source) } ?? nil
    }

    /// The last runs, the newest last, with those of this server that failed before the library could record them.
    package func runs(last count: Int) async throws -> [ShownRun] {
        let recorded = try await read { try await $0.runs(last: count) } ?? []
        let unrecorded = await desk?.unrecorded.map { ShownRun(record: $0, state: .ended) } ?? []
        return (recorded + unrecorded).sorted { $0.record.startedAt < $1.record.startedAt }.suffix(count)
    }

    // MARK: Files

    /// The file of an episode, as the library has it now.
    /// - Returns: nil when there is no such episode, or nothing of it in its place.
    /// - Throws: ``Failure`` when what is there cannot be read.
    package func file(of episode: String, in id: String, of source: String) async throws -> OpenedFile? {
        let library = configuration.library
        let file = try await read { shelf -> LocalFile? in
            guard let book = try await shelf.book(id, of: source) else { return nil }
            return try await shelf.episode(episode, of: book)?.givenFile
        }
        guard let file = file ?? nil else { return nil }
        return try await runBlocking { try OpenedFile.open(file, in: library) }
    }

    /// A file that was made of a book's episodes.
    /// - Parameter index: among those of the book.
    /// - Returns: nil when there is no such file in the library.
    package func joinedFile(_ index: Int, of id: String, of source: String) async throws -> OpenedFile? {
        let library = configuration.library
        let found = try await read { shelf -> [JoinedFile] in
            guard let book = try await shelf.book(id, of: source) else { return [] }
            return try await shelf.store.joinedFiles(of: book)
        }
        guard let files = found, files.indices.contains(index) else { return nil }
        let (file, opened) = (
            files[index], try await runBlocking { try OpenedFile.open(files[index].path, recorded: nil, in: library) }
        )
        return opened?.size == file.size && opened?.modificationTime == file.modificationTime ? opened : nil
    }

    /// The chapters of an episode's file.
    /// - Returns: nil when nothing on the shelf has this name, or it has none.
    package func chapters(of episode: String, in id: String, of source: String) async throws -> [MediaInfo.Chapter]? {
        let chapters = try await read { shelf -> [MediaInfo.Chapter]? in
            guard let book = try await shelf.book(id, of: source),
                let shelved = try await shelf.episode(episode, of: book), shelved.givenFile != nil
            else { return nil }
            return try await shelf.chapters(of: shelved)
        }
        guard let chapters = chapters ?? nil, !chapters.isEmpty else { return nil }
        return chapters
    }

    // MARK: Feeds

    /// The podcast feed of what is on disk of a book.
    /// - Returns: nil when nothing on the shelf has this name.
    package func feed(of id: String, of source: String, at addresses: ShelfAddresses) async throws -> [UInt8]? {
        let library = configuration.library
        let exported = try await read { shelf -> ExportedBook? in
            guard let book = try await shelf.book(id, of: source) else { return nil }
            return try await ExportedBook(book, filter: .init(), library: library, store: shelf.store)
        }
        guard var exported = exported ?? nil else { return nil }
        exported.episodes = exported.episodes.filter { $0.shelved.givenFile != nil }
        let book = exported.book.identity
        var cover: String?
        // One that is drawn is none that podcast apps can show.
        if try await openedCover(of: id, of: source)?.picture != nil { cover = addresses.cover(of: book) }
        let addresses = FeedExport.Addresses(
            feed: addresses.feed(of: book), book: addresses.page(of: book), cover: cover, audio: addresses.audio,
            chapters: addresses.chapters)
        return try FeedExport(exported, addresses: addresses).bytes()
    }

    /// The feeds of all books of which there is something on disk, as OPML.
    package func outline(at addresses: ShelfAddresses) async throws -> [UInt8] {
        let books = try await read { try await $0.books() } ?? []
        var outline = OPMLDocument()
        outline.title = "booksync"
        outline.feeds = books.filter { $0.present > 0 }.map { shelved in
            OPMLFeed(
                title: shelved.book.title, address: ResourceAddress(addresses.feed(of: shelved.book.identity)))
        }
        return try outline.bytes()
    }
}
