import BookModel
import CatalogFetcher
import CatalogStore

/// A book with all the sources that have it.
package struct FoundBook: Sendable, Hashable {
    package struct Place: Sendable, Hashable {
        /// That was asked.
        package var source: String
        package var entry: CatalogEntry
    }

    /// At least one, in the order of the sources.
    package fileprivate(set) var places: [Place]

    package var entry: CatalogEntry { places[0].entry }
    package var sources: [String] { places.map(\.source) }
}

/// What catalogs found: the answers put together, the same work of several sources once, and the best first.
package struct FoundBooks: Sendable {
    package var query: CatalogQuery
    /// Those that did not answer, in the order in which they were asked.
    package var unanswered: [(source: String, failure: Failure)] {
        sources.compactMap { source in failures[source].map { (source, $0) } }
    }

    /// In the order in which they are to come.
    private var sources: [String]
    private let ranking: SearchRanking
    private var failures: [String: Failure] = [:]
    private var candidates: [Candidate] = []
    /// Whether works are left out that the library has.
    package var isWithoutLibrary = false

    private struct Candidate: Sendable {
        var place: FoundBook.Place
        /// To be compared from the first on; the less the better.
        var rank: [Int]
    }

    /// - Throws: ``Failure`` of kind `usage` where there is nothing to look for.
    init(_ query: CatalogQuery, sources: [String]) throws {
        self.query = query
        self.sources = sources
        self.ranking = try SearchRanking(query)
    }

    mutating func add(_ answer: CatalogSearch.Answer) {
        switch answer.entries {
        case .failure(let failure): failures[answer.source] = failure
        case .success(let entries):
            let source = order(of: answer.source)
            for (index, entry) in entries.enumerated() {
                // What a catalog gives no language for may be in any.
                if let language = query.language, entry.isIn(language: language) == false { continue }
                let fit = ranking.fit(of: entry)
                // What the catalog itself found, it found for a reason that is not seen here.
                let isMeant = fit != .nothing && (!query.text.isEmpty || ranking.isByAuthor(entry))
                if answer.isListing, !isMeant { continue }
                // Of two titles that have the words the shorter one is more about them.
                let length = fit.rawValue <= SearchRanking.Fit.words.rawValue ? entry.title.count : 0
                candidates.append(
                    Candidate(
                        place: FoundBook.Place(source: answer.source, entry: entry),
                        rank: [ranking.isByAuthor(entry) ? 0 : 1, fit.rawValue, length, index, source]))
            }
        }
    }

    /// What another search found.
    package func adding(_ other: FoundBooks) -> FoundBooks {
        var all = self
        all.candidates += other.candidates
        all.failures.merge(other.failures) { first, _ in first }
        all.sources += other.sources.filter { !sources.contains($0) }
        return all
    }

    private func order(of source: String) -> Int { sources.firstIndex(of: source) ?? sources.count }

    /// ``CatalogQuery/limit`` at most.
    package var books: [FoundBook] {
        var books: [FoundBook] = []
        var indices: [Key: [Int]] = [:]
        for candidate in candidates.sorted(by: { $0.rank.lexicographicallyPrecedes($1.rank) }) {
            let (place, keys) = (candidate.place, Key.keys(of: candidate.place.entry))
            let known = keys.flatMap { indices[$0] ?? [] }
            // A catalog that has a work twice has two recordings of it; the same book twice it only repeats.
            let isRepeated = known.contains { index in
                books[index].places.contains {
                    $0.source == place.source && $0.entry.identity == place.entry.identity
                }
            }
            if isRepeated { continue }
            let index = known.first { !books[$0].sources.contains(place.source) } ?? books.count
            if index == books.count { books.append(FoundBook(places: [])) }
            books[index].places.append(place)
            for key in keys where indices[key]?.contains(index) != true { indices[key, default: []].append(index) }
        }
        if isWithoutLibrary { books.removeAll { $0.sources.contains(CatalogSearch.librarySource) } }
        return books.prefix(query.limit).map { book in
            var book = book
            book.places.sort { order(of: $0.source) < order(of: $1.source) }
            return book
        }
    }

    /// What two entries have in common that are of one work.
    private enum Key: Hashable {
        case book(BookIdentity)
        /// A feed, whichever way it is reached.
        case feed(Substring)
        /// Folded; the names of the author in any order.
        case work(title: SearchText, author: Set<SearchText>)

        static func keys(of entry: CatalogEntry) -> [Key] {
            var keys: [Key] = [.book(entry.identity)]
            if entry.address != nil { keys = [.feed(entry.identity.id.drop { $0 != ":" })] }
            if let author = entry.author {
                keys.append(.work(title: SearchText(entry.title), author: Set(SearchText(author).words)))
            }
            return keys
        }
    }
}

extension JSONDocument {
    package init(_ found: FoundBooks) {
        self = [
            "query": [
                "text": .string(found.query.text), "author": .init(found.query.author),
                "language": .init(found.query.language), "limit": .init(found.query.limit),
            ],
            "entries": .array(found.books.map { JSONDocument($0) }),
            "unanswered": .array(
                found.unanswered.map { source, failure in
                    [
                        "source": .string(source), "kind": .string(failure.kind.keyword),
                        "error": .string(failure.description),
                    ]
                }),
        ]
    }

    private init(_ book: FoundBook) {
        let entry = book.entry
        self = [
            "ref": .string(entry.reference), "source": .string(entry.identity.source), "id": .string(entry.identity.id),
            "title": .string(entry.title), "author": .init(entry.author), "narrator": .init(entry.narrator),
            "language": .init(entry.language), "episodes": .init(entry.episodes), "duration": .init(entry.seconds),
            "size": .init(entry.size), "summary": .init(entry.summary),
            "found_in": .array(
                book.places.map { ["catalog": .string($0.source), "ref": .string($0.entry.reference)] }),
        ]
    }
}
