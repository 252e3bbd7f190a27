import BookModel
import LibraryFiles
import Settings

/// What came of asking several libraries, side by side.
package struct LibraryAnswers<Value: Sendable>: Sendable {
    /// In the order of the libraries.
    package private(set) var answers: [(place: LibraryPlace, value: Value)] = []
    /// Those that could not be looked at, such as one whose disk is not mounted.
    package private(set) var failures: [(place: LibraryPlace, failure: Failure)] = []

    /// So many are asked at once: each has its store opened, and two disks are busy enough with it.
    private static var askedAtOnce: Int { 8 }

    /// Asks all libraries that the configuration looks at.
    /// - Parameters:
    ///   - mayLackRecords: as ``KnownLibraries/requireMounted(_:mayLackRecords:)`` has it.
    ///   - body: gets the configuration for one library.
    /// - Throws: what `body` throws where there is one library only, or none of several could be looked at.
    package static func of(
        _ configuration: Configuration, _ knownLibraries: KnownLibraries?, mayLackRecords: Bool = true,
        _ body: @escaping @Sendable (Configuration, LibraryPlace) async throws -> Value
    ) async throws -> Self {
        try await of(configuration.libraries) { place in
            try await knownLibraries?.requireMounted(place.path, mayLackRecords: mayLackRecords)
            return try await body(configuration.choosing(place), place)
        }
    }

    /// Asks libraries side by side.
    /// - Throws: what `body` throws where there is one library only, or none of several could be looked at.
    package static func of(
        _ places: [LibraryPlace], _ body: @escaping @Sendable (LibraryPlace) async throws -> Value
    ) async throws -> Self {
        let outcomes = try await places.concurrentMap(atOnce: askedAtOnce) { place -> Result<Value, Failure> in
            do {
                return .success(try await body(place))
            } catch let failure as Failure {
                return .failure(failure)
            }
        }
        var all = Self()
        for (place, outcome) in zip(places, outcomes) {
            switch outcome {
            case .success(let value): all.answers.append((place, value))
            case .failure(let failure): all.failures.append((place, failure))
            }
        }
        if let (_, failure) = all.failures.first, all.answers.isEmpty { throw failure }
        return all
    }
}

extension LibraryAnswers {
    /// All that was found, with the names of its libraries where there are several.
    package func items<Item: InLibrary>() -> [Item] where Value == [Item]? {
        let isNamed = answers.count + failures.count > 1
        return answers.flatMap { place, items in isNamed ? (items ?? []).named(place) : items ?? [] }
    }
}

extension LibraryAnswers {
    /// The answers of all libraries.
    /// - Throws: ``Failure`` where one of them could not be looked at: what it has must not seem to be gone.
    package func complete() throws -> [(place: LibraryPlace, value: Value)] {
        if let (_, failure) = failures.first { throw failure }
        return answers
    }
}

extension LibraryAnswers where Value == ShelfReader.Found? {
    /// The best of all that was found, and whether there is more.
    /// - Parameter limit: nil for all.
    package func best(for text: String, limit: Int?) throws -> ShelfReader.Found {
        let found = LibraryAnswers<[FoundItem]?>(
            answers: answers.map { ($0, $1?.items) }, failures: failures
        ).items()
        let hasMore = answers.contains { $0.value?.hasMore == true }
        guard answers.count + failures.count > 1 else { return (found, hasMore) }
        let best = try found.ranked(for: text).prefix(limit ?? .max)
        return (Array(best), hasMore || best.count < found.count)
    }
}

/// Something of a library.
package protocol InLibrary: Sendable {
    /// The library's name; nil where only one is looked at.
    var library: String? { get set }
}

extension Array where Element: InLibrary {
    /// The same with the name of the library that they are of.
    package func named(_ place: LibraryPlace) -> Self {
        var items = self
        items.name(place)
        return items
    }

    /// The same of items that stay where they are.
    package mutating func name(_ place: LibraryPlace) {
        for index in indices { self[index].library = place.name }
    }
}

extension BookSummary: InLibrary {}
extension ShelfReader.EpisodeOnDisk: InLibrary {}
extension ShownRun: InLibrary {}
extension FileOperation: InLibrary {}

extension FoundItem: InLibrary {
    package var library: String? {
        get {
            switch self {
            case .book(let book): book.library
            case .episode(let episode, _): episode.library
            }
        }
        set {
            switch self {
            case .book(var book):
                book.library = newValue
                self = .book(book)
            case .episode(var episode, let book):
                episode.library = newValue
                self = .episode(episode, of: book)
            }
        }
    }
}

extension JSONDocument {
    /// The document of something with the library that it is in, where there are several.
    package func adding(_ library: String?) -> JSONDocument {
        library.map { adding(["library": .string($0)]) } ?? self
    }

    package init(_ episode: ShelfReader.EpisodeOnDisk) {
        self = JSONDocument(episode.shelved, bytesDone: episode.bytesDone).adding(episode.library)
    }
}
