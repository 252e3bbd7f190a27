import BookModel
import CatalogStore
import LibraryFiles
import Settings

/// Which of several libraries have some books: listed, or subscribed to.
package struct BookLocations: Sendable {
    private var places: [BookIdentity: [LibraryPlace]] = [:]
    /// Libraries that could not be looked at: they may have any book.
    package let unreadable: [(place: LibraryPlace, failure: Failure)]

    /// Looks in all libraries that the configuration looks at.
    package init(
        of books: [BookIdentity], in configuration: Configuration, _ knownLibraries: KnownLibraries?
    ) async throws {
        let found = try await LibraryAnswers.of(configuration, knownLibraries) { configuration, _ in
            try await ShelfReader.read(configuration.library) { try await $0.store.known(among: books) }
        }
        for (place, known) in found.answers {
            for book in known ?? [] { places[book, default: []].append(place) }
        }
        unreadable = found.failures
    }

    /// In the libraries' order.
    package func places(of book: BookIdentity) -> [LibraryPlace] { places[book] ?? [] }

    /// - Throws: ``Failure`` where a library that has none of the books known may have it: nothing is fetched twice.
    package func requireCertainty(about book: BookIdentity) throws {
        guard places(of: book).isEmpty, let (place, failure) = unreadable.first else { return }
        throw Failure(
            failure.kind, disposition: .skip, what: "\(book) is left as it is",
            why: "the library '\(place.name)' may have it and cannot be looked at: \(failure.why)",
            remedy: "mount its disk, or take it out of 'libraries'")
    }
}

extension Configuration {
    /// The configuration with those of its subscriptions that are this library's: whose book it has, or that are to go there.
    package func withOwnSubscriptions() async throws -> Configuration {
        guard configuredLibraries.count > 1, !subscriptions.isEmpty else { return self }
        let (place, standard) = (place, defaultLibrary)
        let books = try subscriptions.map { try book($0.reference) }
        let known = Set(
            try await ShelfReader.read(library) { try await $0.store.known(among: books) } ?? [])
        var own = self
        own.subscriptions = zip(subscriptions, books).filter { subscription, book in
            known.contains(book) || (subscription.library ?? standard?.name) == place.name
        }.map(\.0)
        return own
    }
}
