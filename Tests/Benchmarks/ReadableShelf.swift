import BookModel
import CatalogStore
import Foundation

/// A shelf to look at: 2,000 books of five episodes, and one of 5,000, all recorded as fetched. Their files are not there:
/// nothing that is looked at opens one.
///
/// Made by a process of its own, started by the benchmark, which stays small.
struct ReadableShelf {
    static let childFlag = "--make-readable-shelf"
    /// As it is called in addresses.
    static let longBook = "bench/1"
    private static let books = 2000
    private static let episodes = 5
    private static let manyEpisodes = 5000

    static func child(_ arguments: [String]) async throws {
        guard arguments.count == 1 else { throw MeasuredProcess.Failed(description: "\(childFlag) LIBRARY") }
        let own = "\(arguments[0])/.booksync"
        try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: false)
        let store = try await CatalogStore(path: "\(own)/store.sqlite", access: .readWrite)
        for book in 1...books { try await add(book, episodes: book == 1 ? manyEpisodes : episodes, to: store) }
        // As every run leaves it.
        try await store.updateShelfCounts()
        try await store.updateSearchIndex()
        try await store.close()
    }

    private static func add(_ number: Int, episodes count: Int, to store: CatalogStore) async throws {
        let identity = BookIdentity(source: "bench", id: "\(number)")
        let book = Book(
            identity: identity, title: "回到古代当兽医 第\(number)部", author: "三分流氓 \(number % 50)",
            declaredEpisodes: count, isComplete: true)
        let listed = (1...count).map { section in
            Episode(
                identity: EpisodeIdentity(book: identity, key: "\(number * 10_000 + section)"), section: section,
                name: "第\(section)集_回到古代当兽医",
                address: ResourceAddress("http://127.0.0.1:9/audio/\(number)/\(section).mp3"), size: 9_900_000,
                duration: 600)
        }
        _ = try await store.merge(listed, startingAt: 0, of: identity)
        _ = try await store.finishListing(
            of: book, proof: ListingProof(declared: count, collected: count, isComplete: true),
            seen: Set(listed.map(\.identity.key)))
        try await store.finish(
            listed.map { episode in
                LocalFile(
                    episode: episode.identity, path: "\(book.title)/\(episode.section) \(episode.name).mp3",
                    size: 9_900_000, sha256: String(repeating: "0", count: 64), modificationTime: 0, inode: 1,
                    catalogSize: 9_900_000, fetchedAt: Date(), verification: .length)
            })
    }
}
