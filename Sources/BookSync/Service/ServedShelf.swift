import BookModel
import CatalogFetcher
import CatalogStore
import Foundation
import LibraryFiles
import Settings

/// What libraries give to others: files, feeds, and a catalog that another booksync mirrors. It reads the stores and the
/// disks, beside whatever run is under way, and changes neither.
///
/// Sources, books and episodes are called by their ``Slug``, or as the catalog calls them. Of several libraries it is the shelf
/// of one: of the one that new books go to, or the one that has a book, see ``having(_:of:)``.
package struct ServedShelf: Sendable {
    /// Who looks at it: what they may not see is not there.
    package private(set) var user = User.owner
    let libraries: [ServedLibrary]
    /// Of the one that this is the shelf of.
    var index: Int
    let places = BookPlaces()
    let copies = LaterCopies()
    let knownLibraries: KnownLibraries?

    /// - Parameters:
    ///   - configuration: names the libraries.
    ///   - knownLibraries: what is remembered of them, so that one whose disk is not mounted does not pass for an empty one.
    ///   - desks: they do the runs that clients ask for, one for each library; none where clients can change nothing.
    package init(_ configuration: Configuration, knownLibraries: KnownLibraries? = nil, desks: [RunQueue] = []) {
        self.knownLibraries = knownLibraries
        libraries = configuration.libraries.enumerated().map { number, place in
            ServedLibrary(place, of: configuration, desk: desks.indices.contains(number) ? desks[number] : nil)
        }
        index = libraries.firstIndex { $0.place.path == configuration.library } ?? 0
    }

    /// Of the library.
    package var configuration: Configuration { library.configuration }
    /// Does the runs that clients ask for in the library; nil where they can change nothing.
    package var desk: RunQueue? { library.desk }
    package var desks: [RunQueue] { libraries.compactMap(\.desk) }

    var library: ServedLibrary { libraries[index] }

    /// To be called when the server ends: what users listened to goes into the copies of stores that lie apart.
    package func finishCopies() async { await copies.makeDue() }

    /// The same shelf, as somebody else has it.
    package func seen(by user: User) -> ServedShelf {
        var shelf = self
        shelf.user = user
        return shelf
    }

    /// Reads the store. A reading must not begin another.
    /// - Returns: what `body` makes of the shelf; nil when there is no library yet, too.
    /// - Throws: ``Failure``, also where the library's disk is not mounted.
    package func read<Result: Sendable>(_ body: (ShelfReader) async throws -> Result?) async throws -> Result? {
        let path = library.place.path
        let result: Result?? = try await library.store.read { store, _ in
            try await body(
                ShelfReader(
                    library: path, store: store, user: try await localUser(in: store),
                    isRunUnderWay: try await LibraryLock.isHeld(in: path)))
        }
        if let result { return result }
        try await knownLibraries?.requireMounted(path, mayLackRecords: false)
        return nil
    }

    /// The same for a book that is named.
    /// - Returns: nil when nothing on the shelf has this name, too.
    package func read<Result: Sendable>(
        _ id: String, of source: String, _ body: (ShelfReader, BookIdentity) async throws -> Result?
    ) async throws -> Result? {
        try await read { shelf in
            guard let book = try await shelf.book(id, of: source) else { return nil }
            return try await body(shelf, book)
        }
    }

    /// - Returns: nil when nothing on the shelf has this name.
    package func book(_ id: String, of source: String) async throws -> BookIdentity? {
        try await read { try await $0.book(id, of: source) }
    }

    // MARK: Files

    /// The file of an episode, as the library has it now.
    /// - Returns: nil when there is no such episode, or nothing of it in its place.
    /// - Throws: ``Failure`` when what is there cannot be read.
    package func file(of episode: String, in id: String, of source: String) async throws -> OpenedFile? {
        let library = library.place.path
        let file = try await read(id, of: source) { try await $0.store.episode(named: episode, of: $1)?.givenFile }
        guard let file else { return nil }
        return try await runBlocking { try OpenedFile.open(file, in: library) }
    }

    /// A file that was made of a book's episodes.
    /// - Parameter index: among those of the book.
    /// - Returns: nil when there is no such file in the library.
    package func joinedFile(_ index: Int, of id: String, of source: String) async throws -> OpenedFile? {
        let library = library.place.path
        let files = try await read(id, of: source) { try await $0.store.joinedFiles(of: $1) }
        guard let files, files.indices.contains(index) else { return nil }
        let (file, opened) = (
            files[index], try await runBlocking { try OpenedFile.open(files[index].path, recorded: nil, in: library) }
        )
        return opened?.size == file.size && opened?.modificationTime == file.modificationTime ? opened : nil
    }

    /// The chapters of an episode's file.
    /// - Returns: nil when nothing on the shelf has this name, or it has none.
    package func chapters(of episode: String, in id: String, of source: String) async throws -> [MediaInfo.Chapter]? {
        try await read(id, of: source) { shelf, book in
            guard let shelved = try await shelf.store.episode(named: episode, of: book), shelved.givenFile != nil
            else { return nil }
            let chapters = try await shelf.chapters(of: shelved)
            return chapters.isEmpty ? nil : chapters
        }
    }

    // MARK: Feeds

    /// The podcast feed of what is on disk of a book.
    /// - Returns: nil when nothing on the shelf has this name.
    package func feed(of id: String, of source: String, at addresses: ShelfAddresses) async throws -> [UInt8]? {
        let library = library.place.path
        let found = try await read(id, of: source) {
            try await ExportedBook($1, filter: .init(), library: library, store: $0.store)
        }
        guard var exported = found else { return nil }
        exported.episodes = exported.episodes.filter { $0.givenFile != nil }
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
    /// - Throws: ``Failure`` where a library cannot be looked at: who reads the list would give up its feeds.
    package func outline(at addresses: ShelfAddresses) async throws -> [UInt8] {
        let books = try await answers { try await $0.books() }.complete().flatMap { $0.value ?? [] }
        var outline = OPMLDocument()
        outline.title = "booksync"
        outline.feeds = books.filter { $0.present > 0 }.map { shelved in
            OPMLFeed(
                title: shelved.book.title, address: ResourceAddress(addresses.feed(of: shelved.book.identity)))
        }
        return try outline.bytes()
    }
}
