import BookModel
import CatalogStore
import LibraryFiles
import Settings

// Brings each book of a fleet to the shard that it falls to. What a library was subscribed to by itself stays there, and what the
// configuration has for a library goes to it.

extension Configuration {
    /// The libraries among which books are shared out.
    /// - Throws: ``Failure`` of kind `usage` where there is one library only.
    package func requireShards() throws -> [LibraryPlace] {
        guard configuredLibraries.count > 1 else {
            throw Failure(
                .usage, what: "there are no shards to move books to", why: "the configuration names one library",
                remedy: "name several under 'libraries'")
        }
        return configuredLibraries
    }

    /// The books of a library that are to go elsewhere.
    package func misplacedBooks(
        in origin: LibraryPlace, knownLibraries: KnownLibraries?
    ) async throws -> [BookMove] {
        let places = try requireShards()
        var chosen: [BookIdentity: LibraryPlace] = [:]
        for subscription in subscriptions {
            guard let name = subscription.library else { continue }
            chosen[try book(subscription.reference)] = places.first { $0.name == name }
        }
        try await knownLibraries?.requireMounted(origin.path)
        let books = try await ShelfReader.read(origin.path) { shelf in
            let subscribed = Set(try await shelf.subscriptions().map(\.book))
            return try await shelf.store.books().map(\.book.identity).filter { !subscribed.contains($0) }
        }
        return (books ?? []).compactMap { book in
            let target = chosen[book] ?? places[Shard.index(of: book, among: places.count)]
            guard target != origin else { return nil }
            return BookMove(
                book, from: origin, to: target, minFreeSpace: downloads.minFreeSpace, knownLibraries: knownLibraries)
        }
    }

    /// Records, when all books are where they belong, as which shard each library is filled from now on.
    package func recordShards() async throws {
        try await runBlocking {
            for place in configuredLibraries {
                guard let shard = Shard(index: place.number, count: configuredLibraries.count) else { continue }
                try ShardRecord.write(shard, in: place.path)
            }
        }
    }
}
