import BookModel
import LibraryFiles

/// Where the things of a shelf are to be had from a server.
package struct ShelfAddresses: Sendable, Hashable {
    /// Of the server, as its clients know it: `http://127.0.0.1:8731`, without a slash at its end.
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
    package func feed(of book: BookIdentity) -> String { "\(given)/feeds/\(path(of: book)).xml" }

    /// The cover of a book.
    package func cover(of book: BookIdentity) -> String { "\(given)/covers/\(path(of: book))" }

    /// The page of a book, for people.
    package func page(of book: BookIdentity) -> String { "\(root)/books/\(path(of: book))" }

    /// The audio of an episode. Players and catalogs tell the format by how the address ends.
    package func audio(_ file: LocalFile) -> String {
        let name = "\(path(of: file.episode.book))/\(Slug(of: file.episode.key))"
        return "\(given)/media/\(name).\(AudioExtension.ofPath(file.path))"
    }

    /// The chapters of an episode.
    package func chapters(of episode: EpisodeIdentity) -> String {
        "\(given)/chapters/\(path(of: episode.book))/\(Slug(of: episode.key)).json"
    }

    private func path(of book: BookIdentity) -> String { "\(Slug(of: book.source))/\(Slug(of: book.id))" }
}

extension AudioExtension {
    /// The known one that a path ends with, else `mp3`; in lower case.
    static func ofPath(_ path: String) -> String {
        let text = path.lastIndex(of: ".").map { path[path.index(after: $0)...].lowercased() } ?? ""
        return known.contains(text) ? text : "mp3"
    }
}
