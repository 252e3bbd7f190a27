import BookModel
import CatalogStore
import Foundation

/// What a shelf of 1,000,000 episodes in 2,000 books takes to be searched and listed; half of them are on disk.
enum MillionEpisodes: Benchmark {
    static let name = "million"

    private static let books = 2000
    private static let episodes = 500

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        let library = try setting.workspace.emptyFolder("library-million")
        let configuration = try setting.configuration(catalog: "http://127.0.0.1:9/", pageSize: 50)
        let indexing = try await fill(library)
        defer { setting.workspace.remove("library-million") }
        let works: [(title: String, arguments: [String], limit: Double?)] = [
            ("`search` of two characters, in every name", ["search", "兽医"], 0.1),
            ("`search` of two characters, in one of a thousand", ["search", "狐狸"], 0.1),
            ("`search` of two characters, nowhere", ["search", "龙虎"], 0.1),
            ("`search` of one character, in every name", ["search", "第"], 0.1),
            ("`search` of a number, in every book", ["search", "第77集"], 0.1),
            ("`search` of the beginning of a word that is in every name", ["search", "epi"], nil),
            ("`list`", ["list"], 0.2), ("`list REF`", ["list", "777"], 0.1),
            ("`list --sort title --json`", ["list", "--sort", "title", "--json"], 0.2),
            ("`show REF/7`", ["show", "777/7"], 0.1),
        ]
        var rows = [
            ReportRow(
                work: "\(books * episodes) episodes in \(books) books: indexing their names",
                ours: "\(decimal(indexing)) s")
        ]
        for work in works {
            let command = setting.product.command(work.arguments, configuration: configuration, library: library)
            let measured = try (1...setting.runs).map { _ in try setting.measure(command) }
            rows.append(
                ReportRow(
                    work: work.title, ours: "\(decimal(measured.wall, 3)) s", memory: megabytes(measured.peakMemory),
                    limit: work.limit.map { verdict("≤ \($0) s", measured.wall <= $0) } ?? ""))
        }
        return BenchmarkResult(rows: rows)
    }

    /// - Returns: the seconds that the index took.
    private static func fill(_ library: String) async throws -> Double {
        try FileManager.default.createDirectory(atPath: library + "/.booksync", withIntermediateDirectories: true)
        let store = try await CatalogStore(path: library + "/.booksync/store.sqlite", access: .readWrite)
        for number in 0..<books {
            let identity = BookIdentity(source: "bench", id: "\(number)")
            let title = title(number)
            let listed = (1...episodes).map { section in
                Episode(
                    identity: EpisodeIdentity(book: identity, key: "\(number)-\(section)"), section: section,
                    name: "第\(section)集_\(title) episode",
                    address: ResourceAddress("http://a.example/\(number)/\(section).mp3"),
                    size: 9_900_000, duration: 600)
            }
            _ = try await store.merge(listed, startingAt: 0, of: identity)
            _ = try await store.finishListing(
                of: Book(identity: identity, title: title, author: "作者\(number % 300)"),
                proof: ListingProof(declared: episodes, collected: episodes, isComplete: true),
                seen: Set(listed.map(\.identity.key)))
            guard number.isMultiple(of: 2) else { continue }
            try await store.finish(
                listed.map { episode in
                    LocalFile(
                        episode: episode.identity, path: "作者\(number % 300)/\(title)/\(episode.section).mp3",
                        size: 9_900_000, sha256: String(repeating: "a", count: 64), modificationTime: 0,
                        inode: UInt64(episode.section), fetchedAt: Date(timeIntervalSince1970: 0),
                        verification: .length)
                })
        }
        let begin = ContinuousClock.now
        try await store.updateShelfCounts()
        try await store.updateSearchIndex()
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        try await store.close()
        return seconds
    }

    /// Titles that differ; all of them hold 兽医, and one of a thousand 狐狸.
    private static func title(_ number: Int) -> String {
        let characters = Array("天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏")
        let first = characters[number % characters.count]
        let second = characters[number / characters.count % characters.count]
        return "\(first)\(second)兽医\(number.isMultiple(of: 1000) ? "狐狸" : "")\(number)"
    }
}
