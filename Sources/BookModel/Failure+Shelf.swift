extension Failure {
    /// The stored shelf does not have the book.
    package static func notOnTheShelf(_ book: BookIdentity) -> Failure {
        Failure(
            .unknownBook, what: "\(book) is not on the shelf",
            why: book.isCollection ? "it is a list of books" : "no run has read its catalog yet",
            remedy: book.isCollection
                ? "subscribe to it, and booksync mirror fetches its books" : "run booksync fetch --book \(book) first")
    }

    /// The stored book has none of the episodes that are named.
    package static func noSuchEpisode(of book: BookIdentity) -> Failure {
        Failure(
            .unknownBook, what: "no episode of \(book) is meant", why: "it has no such section",
            remedy: "booksync list \(book) lists what it has")
    }

    /// Nothing was ever fetched into the library.
    package static func emptyLibrary(_ library: String) -> Failure {
        Failure(
            .unknownBook, what: "there is no shelf at \(library)", why: "no run has put anything there yet",
            remedy: "run booksync fetch first, or name the library with --library")
    }
}

extension Episode {
    /// How failures name it: `Emma, episode 2 'Chapter 2'`.
    /// - Parameter title: ``Book/name``.
    package func named(in title: String) -> Message {
        name.isEmpty ? "\(title), episode \(section)" : "\(title), episode \(section) '\(name)'"
    }
}
