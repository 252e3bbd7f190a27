import BookModel
import CatalogStore
import Foundation

/// A library of 1,000,000 episodes in 2,000 books, each a sparse file of 9.9 MB that is recorded as fetched, and the
/// catalog that lists them, a page for each book.
///
/// Made by a process of its own, started by the benchmark, which stays small.
struct GreatShelf {
    static let childFlag = "--make-great-shelf"
    static let source = "bench"
    static let books = 1...2000
    static let sections = 1...500
    static let bytes: Int64 = 9_900_000

    let library: String
    /// Where the pages go: `BOOK/1.json`.
    let catalog: String

    static func title(_ book: Int) -> String { "回到古代当兽医 第\(book)部" }

    /// - Parameter arguments: the folders of library and catalog, which are there and empty.
    static func child(_ arguments: [String]) async throws {
        guard arguments.count == 2 else { throw MeasuredProcess.Failed(description: "\(childFlag) LIBRARY CATALOG") }
        let shelf = GreatShelf(library: arguments[0], catalog: arguments[1])
        let own = "\(shelf.library)/.booksync"
        try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: false)
        let store = try await CatalogStore(path: "\(own)/store.sqlite", access: .readWrite)
        for book in books { try await shelf.add(book, to: store) }
        // As every run leaves it.
        try await store.updateShelfCounts()
        try await store.updateSearchIndex()
        try await store.close()
    }

    private func add(_ number: Int, to store: CatalogStore) async throws {
        let identity = BookIdentity(source: Self.source, id: "\(number)")
        let book = Book(
            identity: identity, title: Self.title(number), author: "三分流氓 \(number % 50)",
            declaredEpisodes: Self.sections.count, isComplete: true)
        let folder = "\(book.author ?? "")/\(book.title)"
        try FileManager.default.createDirectory(atPath: "\(library)/\(folder)", withIntermediateDirectories: true)
        var episodes: [Episode] = []
        var files: [LocalFile] = []
        for section in Self.sections {
            let key = "\(number * 1000 + section)"
            let name = "第\(section)集_\(["启程", "山中", "夜雨", "归来"][section % 4])"
            let episode = Episode(
                identity: EpisodeIdentity(book: identity, key: key), section: section, name: name,
                address: ResourceAddress("http://127.0.0.1:9/audio/\(number)/\(section).mp3"), size: Self.bytes,
                duration: 600)
            let digits = "\(section)"
            let path = "\(folder)/\(String(repeating: "0", count: 3 - digits.count))\(digits) \(name).mp3"
            let digest = String(repeating: "0", count: 64 - key.count) + key
            files.append(try sparseFile(of: episode, at: path, digest: digest))
            episodes.append(episode)
        }
        try writePage(of: number, episodes)
        _ = try await store.merge(episodes, startingAt: 0, of: identity)
        _ = try await store.finishListing(
            of: book,
            proof: ListingProof(declared: Self.sections.count, collected: Self.sections.count, isComplete: true),
            seen: Set(episodes.map(\.identity.key)))
        try await store.finish(files)
    }

    private func writePage(of number: Int, _ episodes: [Episode]) throws {
        let list = episodes.map { episode in
            """
            {"id":\(episode.identity.key),"section":\(episode.section),"name":"\(episode.name)",\
            "path":"\(episode.address?.withoutSecrets ?? "")","size":\(Self.bytes),"length":600}
            """
        }
        let text = """
            {"status":0,"msg":null,"bookId":\(number),"sections":\(episodes.count),"list":[\(list.joined(separator: ","))]}
            """
        try FileManager.default.createDirectory(atPath: "\(catalog)/\(number)", withIntermediateDirectories: true)
        try text.write(toFile: "\(catalog)/\(number)/1.json", atomically: false, encoding: .utf8)
    }

    private func sparseFile(of episode: Episode, at path: String, digest: String) throws -> LocalFile {
        let descriptor = open("\(library)/\(path)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw MeasuredProcess.Failed(description: "\(path) cannot be created") }
        defer { close(descriptor) }
        var status = stat()
        guard ftruncate(descriptor, off_t(Self.bytes)) == 0, fstat(descriptor, &status) == 0 else {
            throw MeasuredProcess.Failed(description: "\(path) cannot be made")
        }
        #if os(Linux)
            let time = status.st_mtim
        #else
            let time = status.st_mtimespec
        #endif
        return LocalFile(
            episode: episode.identity, path: path, size: Self.bytes, sha256: digest,
            modificationTime: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec), inode: UInt64(status.st_ino),
            catalogSize: Self.bytes, fetchedAt: Date(), verification: .length)
    }
}
