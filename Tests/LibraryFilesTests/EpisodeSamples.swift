import BookModel

@testable import LibraryFiles

/// Short ways to say "a book" and "an episode" in tests of names.
enum Sample {
    static func book(_ title: String = "Book", author: String? = "Author", declared: Int? = nil) -> Book {
        Book(
            identity: BookIdentity(source: "test", id: "30776"), title: title, author: author,
            declaredEpisodes: declared)
    }

    static func episode(_ section: Int, _ name: String, key: String? = nil, address: String? = nil) -> Episode {
        Episode(
            identity: EpisodeIdentity(
                book: BookIdentity(source: "test", id: "30776"), key: key ?? "\(1000 + section)"),
            section: section, name: name, address: address.map { ResourceAddress($0) })
    }
}
