import BookModel
import CatalogFetcher

/// Asks catalogs for books, all of them side by side.
package struct CatalogSearch: Sendable {
    /// A catalog by the name of its source.
    package typealias Catalog = (source: String, catalog: any SearchableCatalog)

    /// What came of asking one of them.
    package struct Answer: Sendable {
        package var source: String
        package var isListing = false
        package var entries: Result<[CatalogEntry], Failure>
    }

    /// The name by which the library is asked.
    package static let librarySource = "library"

    private let catalogs: [Catalog]
    package var sources: [String] { catalogs.map(\.source) }
    private let patience: Double

    /// - Parameters:
    ///   - catalogs: of two that fit equally well the first comes first.
    ///   - patience: seconds after which a catalog is given up.
    package init(_ catalogs: [Catalog], patience: Double = 30) {
        self.catalogs = catalogs
        self.patience = patience
    }

    /// - Parameter onAnswer: called as soon as a catalog has answered or failed, with what was found so far. What it throws ends
    ///   the search.
    /// - Returns: what all of them found.
    /// - Throws: ``Failure`` of kind `usage` where there is nothing to look for; `CancellationError`.
    package func search(
        _ query: CatalogQuery, onAnswer: (Answer, FoundBooks) async throws -> Void = { _, _ in }
    ) async throws -> FoundBooks {
        var found = try FoundBooks(query, sources: sources)
        try await withThrowingTaskGroup(of: Answer.self) { group in
            for catalog in catalogs { group.addTask { try await answer(of: catalog, to: query) } }
            for try await answer in group {
                found.add(answer)
                try await onAnswer(answer, found)
            }
        }
        return found
    }

    private func answer(of asked: Catalog, to query: CatalogQuery) async throws -> Answer {
        var answer = Answer(source: asked.source, isListing: asked.catalog.isListing, entries: .success([]))
        do {
            answer.entries = .success(try await answered(within: patience) { try await asked.catalog.search(query) })
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            let failure = Failure.of(error)
            // Where a book is asked for, that is one that is not there.
            let isMissing = failure.kind == .unknownBook
            answer.entries = .failure(
                Failure(
                    isMissing ? .catalogUnavailable : failure.kind, what: "\(asked.source) cannot be searched",
                    why: failure.why, remedy: isMissing ? "check the address of its search" : failure.remedy))
        }
        return answer
    }
}

/// - Throws: ``Failure`` of kind `catalogUnavailable` when the body takes longer.
func answered<Value: Sendable>(
    within seconds: Double, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    if let value = try await limited(to: seconds, body) { return value }
    throw Failure(
        .catalogUnavailable, what: "a catalog cannot be searched", why: "it did not answer within \(Int(seconds)) s",
        remedy: "try again later")
}
