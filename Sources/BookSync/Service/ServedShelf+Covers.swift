import AudioFiles
import BookModel
import CatalogStore
import LibraryFiles
import Settings

/// The cover of a book, for showing.
package enum ServedCover: Sendable {
    /// A picture in the book's folder.
    /// - type: MIME, by what its first bytes say.
    case picture([UInt8], type: String)
    /// There is none.
    case missing(Book)
}

extension ServedShelf {
    /// The picture in the book's folder, as it is there now: what booksync put there, else what is called so.
    /// - Parameter isSmall: whether the smaller copy is wanted. Where there is none the picture counts as missing: what could not be
    ///   made smaller may be of any size.
    /// - Returns: nil when nothing on the shelf has this name.
    /// - Throws: ``Failure`` when what is there cannot be read.
    package func cover(of id: String, of source: String, isSmall: Bool = false) async throws -> ServedCover? {
        guard let (book, picture) = try await openedCover(of: id, of: source) else { return nil }
        guard let picture else { return .missing(book) }
        if isSmall {
            await picture.small.make()
            let small = try await runBlocking { picture.small.bytes() }
            return small.map { .picture($0, type: "image/jpeg") } ?? .missing(book)
        }
        let bytes = try await runBlocking { try Self.bytes(of: picture.file, upTo: picture.file.size) }
        return .picture(bytes, type: picture.type)
    }

    /// The same, looked at and not read.
    func openedCover(
        of id: String, of source: String
    ) async throws -> (book: Book, picture: (file: OpenedFile, type: String, small: SmallCover)?)? {
        let library = library.place.path
        let found = try await read(id, of: source) { shelf, identity -> (book: Book, paths: [String])? in
            guard let shelved = try await shelf.store.books([identity]).first else { return nil }
            let paths = shelved.path.map { CoverPicture.paths(in: $0 == "." ? "" : $0) } ?? []
            let exported = try await shelf.store.exportedFiles(of: identity, kind: ExportKind.cover.rawValue)
            // The user's before the catalog's.
            let own = Set(exported.map(\.path))
            return (shelved.book, paths.filter { !own.contains($0) } + paths.filter(own.contains))
        }
        guard let (book, paths) = found else { return nil }
        return try await runBlocking {
            for path in paths {
                guard let file = try OpenedFile.open(path, recorded: nil, in: library),
                    file.size <= Int64(CoverPicture.maximum),
                    let fileExtension = CoverPicture.fileExtension(of: try Self.bytes(of: file, upTo: 16))
                else { continue }
                let type = "image/" + (fileExtension == "jpg" ? "jpeg" : fileExtension)
                return (book, (file, type, SmallCover(of: path, file.facts, in: library)))
            }
            return (book, nil)
        }
    }

    /// The first bytes of a file; fewer where it has no more.
    private static func bytes(of file: OpenedFile, upTo count: Int64) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(min(count, file.size)))
        try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        return bytes
    }
}
