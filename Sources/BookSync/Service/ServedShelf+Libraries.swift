import BookModel
import CatalogStore
import LibraryFiles
import Settings

// Several libraries, side by side.

extension ServedShelf {
    /// What each library says, in their order; of those that cannot be looked at, why.
    /// - Throws: what `body` throws where one library is served only, or none of several can be looked at.
    package func answers<Value: Sendable>(
        _ body: @escaping @Sendable (ShelfReader) async throws -> Value
    ) async throws -> LibraryAnswers<Value?> {
        try await asking { try await $0.read(body) }
    }

    private func asking<Value: Sendable>(
        _ body: @escaping @Sendable (ServedShelf) async throws -> Value
    ) async throws -> LibraryAnswers<Value> {
        try await LibraryAnswers.of(libraries.map(\.place)) { try await body(shelf(at: $0)) }
    }

    /// All shelves, in the libraries' order.
    package var all: [ServedShelf] { libraries.map { shelf(at: $0.place) } }

    package var hasSeveralLibraries: Bool { libraries.count > 1 }

    /// The library that it is the shelf of.
    package var place: LibraryPlace { library.place }

    package func shelf(at place: LibraryPlace) -> ServedShelf {
        var shelf = self
        shelf.index = libraries.firstIndex { $0.place == place } ?? index
        return shelf
    }

    /// The shelf of the library that has a book, or a subscription of that name; the same shelf where none has.
    /// - Throws: ``Failure`` where none has it that can be looked at, and one cannot.
    package func having(_ id: String, of source: String) async throws -> ServedShelf {
        try await located(id, of: source) ?? self
    }

    /// - Returns: nil where several libraries are served, and none has it.
    private func located(_ id: String, of source: String) async throws -> ServedShelf? {
        guard libraries.count > 1 else { return self }
        let name = "\(source)/\(id)"
        let last = places.library(of: name)
        var failure: Failure?
        for shelf in all.filter({ $0.index == last }) + all.filter({ $0.index != last }) {
            do {
                guard try await shelf.has(id, of: source) else { continue }
                if shelf.index != last { places.remember(CollectionOfOne(name), in: shelf.index) }
                return shelf
            } catch let other as Failure {
                failure = failure ?? other
            }
        }
        if let failure { throw failure }
        return nil
    }

    /// The same for a book that a REF names.
    /// - Parameter bringsNew: whether a book that none has is to be had: then it is the shelf that it goes to.
    package func having(_ reference: BookReference, bringsNew: Bool = false) async throws -> ServedShelf {
        // What is no REF of a book is refused by whoever works with it.
        guard libraries.count > 1, case .success(let book) = Result(catching: { try configuration.book(reference) })
        else { return self }
        if let shelf = try await located(book.id, of: book.source) { return shelf }
        return bringsNew ? shelf(at: try configuration.library(forNew: book)) : self
    }

    private func has(_ id: String, of source: String) async throws -> Bool {
        try await read { shelf in
            if try await shelf.book(id, of: source) != nil { return true }
            return try await !shelf.store.known(among: [BookIdentity(source: source, id: id)]).isEmpty
        } ?? false
    }

    // MARK: Lists

    package static let booksOnPage = 96

    /// What is seen of the whole shelf up to a page, see ``ShelfReader/front(by:count:isWhole:)``.
    /// - Parameter page: its number, from 1 on; nil for the first one, with all that is on it.
    package func front(
        by order: ShelfOrder = .updated, upTo page: Int? = nil
    ) async throws -> LibraryAnswers<ShelfFront> {
        try await asking { try await $0.ownFront(by: order, upTo: page) }
    }

    private func ownFront(by order: ShelfOrder, upTo page: Int?) async throws -> ShelfFront {
        let key = FrontCache.Key(user: user, order: order)
        // Other pages are seen rarely, and may be of everything that there is.
        let stamp = page == nil ? try await library.store.stamp() : nil
        if let stamp, let front = library.fronts.front(key, at: stamp) { return front }
        let count = (page ?? 1) * Self.booksOnPage
        let front = try await read { try await $0.front(by: order, count: count, isWhole: page == nil) } ?? ShelfFront()
        // A run that is killed leaves the store as it is.
        if let stamp, !front.isRunUnderWay { library.fronts.remember(front, key, at: stamp) }
        if hasSeveralLibraries {
            places.remember(front.books.suffix(Self.booksOnPage).map(\.book.identity.pathName), in: index)
        }
        return front
    }

    /// Searches all stores, see ``ShelfReader/search(_:for:limit:reading:)``.
    package func search(for text: String, limit: Int?) async throws -> LibraryAnswers<ShelfReader.Found?> {
        try await asking { shelf in
            try await ShelfReader.search(shelf.place.path, for: text, limit: limit) { try await shelf.read($0) }
        }
    }

    /// The last runs, the newest last, with those of this server that failed before the library could record them.
    package func runs(
        last count: Int
    ) async throws -> (runs: [ShownRun], unanswered: [(place: LibraryPlace, failure: Failure)]) {
        let recorded = try await answers { try await $0.runs(last: count) }
        var runs = recorded.items()
        for shelf in all {
            let unrecorded = await shelf.desk?.unrecorded.map { ShownRun(record: $0, state: .ended) } ?? []
            runs += shelf.named(unrecorded)
        }
        return (runs.sorted { $0.record.startedAt < $1.record.startedAt }.suffix(count), recorded.failures)
    }

    /// What the libraries have, one after the other, each with the name of its library where there are several.
    /// - Throws: ``Failure`` where one of them cannot be looked at.
    package func wholeList<Item: InLibrary>(
        _ body: @escaping @Sendable (ShelfReader) async throws -> [Item]
    ) async throws -> [Item] {
        let found = try await answers(body)
        _ = try found.complete()
        return found.items()
    }

    /// The same things with the name of their library, where several are served.
    package func named<Item: InLibrary>(_ items: [Item]) -> [Item] { hasSeveralLibraries ? items.named(place) : items }

    /// The subscriptions in all stores.
    package func subscriptions() async throws -> [Subscription] {
        try await answers { try await $0.subscriptions() }.complete().flatMap { $0.value ?? [] }
    }
}

/// What is to be seen on a page, of lists that follow one another.
/// - Returns: for each list the part of it.
package func librariesParts(of counts: [Int], from first: Int, count: Int) -> [Range<Int>] {
    var start = 0
    return counts.map { length in
        defer { start += length }
        let lower = min(max(0, first - start), length)
        return lower..<min(max(lower, first + count - start), length)
    }
}
