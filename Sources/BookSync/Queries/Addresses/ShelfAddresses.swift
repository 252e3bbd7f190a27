import BookModel
import LibraryFiles

/// Where the things of a shelf are to be had from a server, and its pages.
package struct ShelfAddresses: Sendable, Hashable {
    /// Of the server, as its clients know it: `http://127.0.0.1:8731`, without a slash at its end; of paths alone what all begin with.
    package let root: String
    /// What feeds, audio and covers are below: the root, or the apps' path.
    private let given: String

    /// - Parameters:
    ///   - root: slashes at its end do not count.
    ///   - apps: the key by which podcast apps come without a password; nil for those who have one.
    package init(root: String, apps: String? = nil) {
        self.root = String(root.prefix(root.count - root.reversed().prefix { $0 == "/" }.count))
        given = self.root + (apps.map { "/apps/" + $0 } ?? "")
    }

    /// The feeds of all books.
    package var outline: String { "\(given)/feeds/all.opml" }

    /// The podcast feed of a book.
    package func feed(of book: BookIdentity) -> String { "\(given)/feeds/\(book.pathName).xml" }

    /// The cover of a book.
    package func cover(of book: BookIdentity) -> String { "\(given)/covers/\(book.pathName)" }

    /// The page of a book, for people.
    package func page(of book: BookIdentity) -> String { "\(root)/books/\(book.pathName)" }

    /// The audio of an episode. Players and catalogs tell the format by how the address ends.
    package func audio(_ file: LocalFile) -> String {
        "\(given)/media/\(file.episode.pathName).\(AudioExtension.ofPath(file.path))"
    }

    /// The chapters of an episode.
    package func chapters(of episode: EpisodeIdentity) -> String { "\(given)/chapters/\(episode.pathName).json" }

    /// The page of an episode, for people.
    package func page(of episode: EpisodeIdentity) -> String { "\(root)/books/\(episode.pathName)" }

    /// The cover of a book, for lists.
    package func smallCover(of book: BookIdentity) -> String { cover(of: book) + "/small" }

    /// Where a form posts to.
    package func action(_ name: String) -> String { "\(root)/actions/\(name)" }
}

extension BookIdentity {
    /// `SOURCE/ID` in names that stand in paths.
    package var pathName: String { "\(Slug(of: source))/\(Slug(of: id))" }
    /// `SOURCE:ID` in names that stand in paths; as actions know a book.
    package var pathReference: String { "\(Slug(of: source)):\(Slug(of: id))" }
}

extension EpisodeIdentity {
    /// `SOURCE/ID/EPISODE` in names that stand in paths.
    package var pathName: String { "\(book.pathName)/\(Slug(of: key))" }
}

extension AudioExtension {
    /// The known one that a path ends with, else `mp3`; in lower case.
    static func ofPath(_ path: String) -> String {
        let text = path.lastIndex(of: ".").map { path[path.index(after: $0)...].lowercased() } ?? ""
        return known.contains(text) ? text : "mp3"
    }
}
