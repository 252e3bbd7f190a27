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
        guard let (book, picture) = try await openedCover(of: id, of: source) else { return nil }
        guard let picture else { return .missing(book) }
        let bytes = try await offPool { try Self.bytes(of: picture.file, upTo: picture.file.size) }
        return .picture(bytes, type: picture.type)
    }

    /// The same, looked at and not read.
    func openedCover(
        of id: String, of source: String
    ) async throws -> (book: Book, picture: (file: OpenedFile, type: String)?)? {
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
                guard let file = try OpenedFile.open(path, recorded: nil, in: library),
                    file.size <= Int64(CoverPicture.greatest),
                    let fileExtension = CoverPicture.fileExtension(of: try Self.bytes(of: file, upTo: 16))
                else { continue }
                return (book, (file, "image/" + (fileExtension == "jpg" ? "jpeg" : fileExtension)))
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
