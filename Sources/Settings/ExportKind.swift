import BookModel
import LibraryFiles

/// What can be written of a book for players and servers.
package enum ExportKind: String, Sendable, CaseIterable {
    /// A playlist of what is on disk.
    case m3u8
    /// Title, author, reader and description as library servers read them.
    case opf
    /// The same as Audiobookshelf's own metadata.json, which outranks all else there and which it rewrites itself.
    case metadata
    /// A podcast feed of what is on disk.
    case rss
    /// A table of all episodes.
    case csv
    /// The picture that the catalog names.
    case cover

    /// The file in the book's folder; nil for a cover, whose name comes from what the picture is.
    package func fileName(for book: Book) -> String? {
        switch self {
        case .m3u8:
            let title = SafeName.component(SafeName.text(book.title))
            let name = title.isEmpty ? SafeName.text("Book \(book.identity.id)") : title
            return SafeName.cut(name, toBytes: SafeName.byteLimit - 6) + ".m3u8"
        case .opf: return "metadata.opf"
        case .metadata: return "metadata.json"
        case .rss: return "feed.xml"
        case .csv: return "episodes.csv"
        case .cover: return nil
        }
    }
}
