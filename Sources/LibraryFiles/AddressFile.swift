import BookModel
import Foundation

/// The address of a book's catalog, if the book's id is not that: the address holds a secret, or the feed has moved.
///
/// Each book has a file of its own in `.booksync/addresses`, which only its owner reads: the store, which is copied, shown and
/// exported, never holds a secret. Blocks on the disk.
package struct AddressFile: Sendable {
    private static let folder = "/.booksync/addresses"

    private let book: BookIdentity
    private let library: String
    private var path: String { library + Self.folder + "/" + Slug(of: "\(book)").description }

    /// - Parameter library: absolute path of its folder.
    package init(of book: BookIdentity, in library: String) {
        (self.book, self.library) = (book, library)
    }

    /// All that a library has.
    package static func all(in library: String) -> [(book: BookIdentity, address: ResourceAddress)] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: library + folder)) ?? []
        return names.sorted().compactMap { content(of: library + folder + "/" + $0) }
    }

    /// Nil where none is recorded, or it cannot be read.
    package var address: ResourceAddress? { Self.content(of: path)?.address }

    private static func content(of path: String) -> (book: BookIdentity, address: ResourceAddress)? {
        guard let bytes = try? readPrivateFile(at: path, maxSize: 65_536),
            let parts = try? JSONDecoder().decode([String].self, from: Data(bytes)), parts.count == 3
        else { return nil }
        return (BookIdentity(source: parts[0], id: parts[1]), ResourceAddress(parts[2]))
    }

    /// - Throws: ``Failure``.
    package func record(_ address: ResourceAddress) throws {
        try LibraryFolder.makeFolder(library + Self.folder, in: library)
        let content = try JSONEncoder().encode([book.source, book.id, address.secretText])
        do {
            try replaceFile(at: path, with: Array(content))
        } catch {
            throw Failure.file("the address of \(book) cannot be recorded in \(path)", errno: error.code)
        }
    }

    package func delete() { unlink(path) }
}
