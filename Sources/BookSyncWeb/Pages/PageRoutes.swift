import BookModel
import BookSync

/// Where the pages are, as they name each other: paths, below the base path.
struct PageRoutes: Sendable {
    /// Empty, or with a slash in front and none at its end.
    let root: String

    var shelf: String { root + "/" }

    func book(_ book: BookIdentity) -> String { "\(root)/books/\(Self.name(of: book))" }
    func episode(_ episode: EpisodeIdentity) -> String { "\(root)/books/\(Self.name(of: episode))" }
    func cover(_ book: BookIdentity) -> String { "\(root)/covers/\(Self.name(of: book))" }

    /// For lists.
    func smallCover(_ book: BookIdentity) -> String { cover(book) + "/small" }
    func audio(_ file: LocalFile) -> String { ShelfAddresses(root: root).audio(file) }
    /// Where a form posts to.
    func action(_ name: String) -> String { "\(root)/actions/\(name)" }

    /// `SOURCE/ID` in names that stand in paths.
    static func name(of book: BookIdentity) -> String { "\(Slug(of: book.source))/\(Slug(of: book.id))" }
    /// `SOURCE/ID/EPISODE`
    static func name(of episode: EpisodeIdentity) -> String { "\(name(of: episode.book))/\(Slug(of: episode.key))" }
    /// `SOURCE:ID` in names that stand in paths; as actions know a book.
    static func reference(of book: BookIdentity) -> String { "\(Slug(of: book.source)):\(Slug(of: book.id))" }
}
