import BookModel
import CatalogStore

/// The cover of a book, for showing.
package enum ServedCover: Sendable {
    /// A picture in the book's folder.
    /// - type: MIME, by what its first bytes say.
    case picture([UInt8], type: String)
    /// There is none.
    case missing(Book)
}

extension ServedShelf {
    /// The picture that `export cover` put into the book's folder, as it is there now.
    /// - Returns: nil when nothing on the shelf is called so.
    /// - Throws: ``Failure`` when what is there cannot be read.
    package func cover(of id: String, of source: String) async throws -> ServedCover? {
        let library = configuration.library
        let found = try await read { shelf -> (book: Book, paths: [String])? in
            guard let identity = try await shelf.book(id, of: source), let book = try await shelf.store.book(identity)
            else { return nil }
            let files = try await shelf.store.exportedFiles(of: identity, kind: ExportKind.cover.rawValue)
            return (book, files.map(\.path))
        }
        guard let (book, paths) = found ?? nil else { return nil }
        return try await offPool {
            for path in paths {
                guard let bytes = try Self.bytes(of: path, in: library),
                    let fileExtension = CoverPicture.fileExtension(of: bytes)
                else { continue }
                return .picture(bytes, type: "image/" + (fileExtension == "jpg" ? "jpeg" : fileExtension))
            }
            return .missing(book)
        }
    }

    /// - Returns: nil when there is no such file, or one that is too large for a picture.
    private static func bytes(of path: String, in library: String) throws -> [UInt8]? {
        guard let file = try OpenedFile.open(path, recorded: nil, in: library), file.size > 0,
            file.size <= Int64(CoverPicture.greatest)
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(file.size))
        try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        return bytes
    }
}
