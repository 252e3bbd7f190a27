import BookModel
import CatalogStore
import Foundation
import Settings

// What clients of a served shelf name.

extension ServedShelf {
    /// An episode as a client names it: each part as the catalog has it, or its ``Slug``.
    package typealias EpisodeName = (source: String, book: String, episode: String)

    /// What is known of the episodes named, in their order.
    /// - Throws: ``Failure`` of kind `unknownBook` when one of them is not on the shelf.
    package func episodes(named names: [EpisodeName]) async throws -> [EpisodeRecord] {
        guard !names.isEmpty else { return [] }
        let library = library.place.path
        let found = try await read { shelf -> [EpisodeRecord] in
            var found: [EpisodeRecord] = []
            var books: [String: BookIdentity] = [:]
            for name in names {
                let key = "\(name.source)/\(name.book)"
                let known: BookIdentity? =
                    if let book = books[key] { book } else { try await shelf.book(name.book, of: name.source) }
                guard let book = known else { throw Self.notThere(name) }
                books[key] = book
                guard let shelved = try await shelf.store.episode(named: name.episode, of: book) else {
                    throw Self.notThere(name)
                }
                found.append(shelved)
            }
            return found
        }
        guard let found else { throw Failure.emptyLibrary(library) }
        return found
    }

    private static func notThere(_ name: EpisodeName) -> Failure {
        Failure(
            .unknownBook, what: "an episode of \(name.source):\(name.book) was not found",
            why: "there is no such episode on the shelf")
    }

    /// Those of a library's ``ShelfFront/unshelved`` books that no other library has either.
    package func offered(
        _ listed: [ListedBook]
    ) async throws -> [(title: String, author: String, reference: String)] {
        var known: Set<BookIdentity> = []
        if hasSeveralLibraries, !listed.isEmpty {
            let books = listed.map(\.book)
            known = Set(try await answers { try await $0.store.known(among: books) }.answers.flatMap { $0.value ?? [] })
        }
        return listed.filter { !known.contains($0.book) }.map {
            ($0.title, String($0.list.id.dropFirst("author:".count)), $0.book.description)
        }
    }

    /// The book that a REF names, which may name it as addresses do.
    /// - Throws: ``Failure``.
    package func book(_ reference: BookReference, of configuration: Configuration) async throws -> BookIdentity {
        if case .id(let id) = reference.target, configuration.usesDemoCatalog,
            let known = try await self.book(id, of: Configuration.demoSource)
        {
            return known
        }
        let book = try configuration.book(reference)
        guard book.id.hasPrefix("~") || book.source.hasPrefix("~") else { return book }
        guard let known = try await self.book(book.id, of: book.source) else { throw Failure.notOnTheShelf(book) }
        return known
    }
}

extension Configuration {
    /// A source that nobody knows makes what a client named wrong, not the configuration.
    /// - Throws: ``Failure`` of kind `unknownBook`.
    package func requireKnownSource(of book: BookIdentity) throws {
        do {
            try requireSource(of: book)
        } catch let failure as Failure {
            throw Failure(.unknownBook, what: failure.what, why: failure.why, remedy: failure.remedy)
        }
    }
}
