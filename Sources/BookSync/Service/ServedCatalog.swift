import BookModel
import CatalogStore
import Foundation

/// The shelf in the wire format of the book-resource API, so that one booksync mirrors another.
///
/// Everything that the shelf's own catalogs list is listed, so that sections, counts and paths become the same; what is
/// not on disk has no address, and is locked for those who mirror.
package struct ServedCatalog: Sendable {
    let shelf: ServedShelf
    let addresses: ShelfAddresses

    /// Elements on a page: where nothing is asked for, and at most.
    static let pageSize = 50
    static let maxPage = 1000

    package init(_ shelf: ServedShelf, at addresses: ShelfAddresses) {
        self.shelf = shelf
        self.addresses = addresses
    }

    /// A page of a book's episodes: an answer in any case, as the API has it.
    /// - Parameter query: `bookId`, `pageNum`, `pageSize`, `sortType` (1 for the last one first); all else is passed over.
    package func listing(_ query: [String: String], of source: String) async throws -> JSONDocument {
        guard let id = query["bookId"], !id.isEmpty else { return Self.refusal(4, "there is no bookId") }
        let found = try await shelf.having(id, of: source).read(id, of: source) {
            try await $0.store.episodes(of: $1)
        }
        guard let all = found else { return Self.refusal(3, "the book is not found") }
        let listed = all.filter { !$0.isGone || $0.givenFile != nil }
        return Self.page(query, of: listed, bookID: .string(id), atMost: Self.maxPage, element: element)
    }

    /// A page of a listing.
    /// - Parameters:
    ///   - query: as for ``listing(_:of:)``.
    ///   - items: all that are listed, by section number.
    ///   - maxSize: elements on a page.
    package static func page<Item>(
        _ query: [String: String], of items: [Item], bookID: JSONDocument, atMost maxSize: Int,
        element: (Item) -> JSONDocument
    ) -> JSONDocument {
        let listed: [Item] = query["sortType"] == "1" ? items.reversed() : items
        let size = min(max(1, query["pageSize"].flatMap { Int($0) } ?? pageSize), maxSize)
        let page = max(1, query["pageNum"].flatMap { Int($0) } ?? 1)
        // A page number near Int.max must not overflow.
        let pages = (listed.count + size - 1) / size
        let shown = page > pages ? [] : listed[((page - 1) * size)..<min(page * size, listed.count)]
        return [
            "bookId": bookID, "list": .array(shown.map(element)), "msg": .null, "sections": .init(listed.count),
            "status": .integer(0), "userType": .integer(0),
        ]
    }

    /// What the book is called, who wrote and read it.
    /// - Parameter query: `id`.
    package func detail(_ query: [String: String], of source: String) async throws -> JSONDocument {
        guard let id = query["id"], !id.isEmpty else { return Self.refusal(4, "there is no id") }
        let found = try await shelf.having(id, of: source).read(id, of: source) { try await $0.store.book($1) }
        guard let book = found else { return Self.refusal(3, "the book is not found") }
        let cover = book.cover?.withoutSecrets
        return [
            "announcer": .init(book.narrator), "author": .init(book.author),
            "cover": .init(cover.flatMap { $0.contains("***") ? nil : $0 }), "desc": .init(book.summary),
            "id": .string(id), "msg": .null, "name": .string(book.title), "status": .integer(0),
        ]
    }

    private static func refusal(_ status: Int, _ message: String) -> JSONDocument {
        ["list": [], "msg": .string(message), "sections": .integer(0), "status": .init(status)]
    }

    private func element(_ shelved: EpisodeRecord) -> JSONDocument {
        let (episode, file) = (shelved.episode, shelved.givenFile)
        let name = Slug(of: episode.identity.key).description
        return [
            "id": Int64(name).map(JSONDocument.integer) ?? .string(name),
            // A new version of a file is a new file for those who mirror, whatever its own catalog says of it.
            "lastModify": .init(Self.milliseconds(file?.fetchedAt)),
            "length": .init(shelved.duration),
            "name": .string(episode.name),
            "onlineTime": .init(Self.milliseconds(episode.publishedAt)),
            "path": .init(file.map(addresses.audio)),
            "section": .init(episode.section),
            "size": .init(file?.size ?? episode.size),
        ]
    }

    private static func milliseconds(_ time: Date?) -> Int64? {
        time.flatMap { Int64(exactly: ($0.timeIntervalSince1970 * 1000).rounded()) }
    }
}
