import BookModel
import CatalogStore
import Settings

/// Keeps what another library has from being fetched into this one.
package struct OtherLibraries: Sendable {
    private let others: Configuration?

    /// - Parameter configuration: for one library; where that is none of several, nothing is kept from it.
    package init(_ configuration: Configuration) {
        let own = configuration.library
        let isOneOfSeveral =
            configuration.configuredLibraries.count > 1
            && configuration.configuredLibraries.contains { $0.path == own }
        var others = configuration
        others.configuredLibraries.removeAll { $0.path == own }
        others.isOneLibraryChosen = false
        self.others = isOneOfSeveral ? others : nil
    }

    /// - Parameter store: of the library that they would be fetched into; nil while there is none.
    /// - Returns: the items whose books this library has or no library, and why the others are left.
    package func leaving(
        _ items: [RunRequest.Item], in store: CatalogStore?
    ) async throws -> (kept: [RunRequest.Item], left: [FailureReport]) {
        guard let others else { return (items, []) }
        let books = items.map(\.book)
        let own = Set(try await store?.known(among: books) ?? [])
        let new = books.filter { !own.contains($0) }
        guard !new.isEmpty else { return (items, []) }
        let locations = try await BookLocations(of: new, in: others, nil)
        var left: [BookIdentity: FailureReport] = [:]
        for book in new {
            do {
                try locations.requireCertainty(about: book)
                guard let place = locations.places(of: book).first else { continue }
                throw Failure(
                    .usage, disposition: .skip, what: "\(book) is not fetched into this library",
                    why: "the library '\(place.name)' has it",
                    remedy: "booksync move \(book) --to NAME hands it over")
            } catch let failure as Failure {
                left[book] = FailureReport(book: book, failure: failure)
            }
        }
        return (items.filter { left[$0.book] == nil }, items.compactMap { left[$0.book] })
    }
}

extension RunRequest {
    /// The same request for these items.
    func only(_ items: [Item]) -> RunRequest {
        var request = self
        request.items = items
        return request
    }

    /// The request without the books that other libraries have. A mirror says nothing of them: their own libraries' does.
    func leavingOtherLibraries(
        _ configuration: Configuration, store: CatalogStore?
    ) async throws -> (request: RunRequest, left: [FailureReport]) {
        let (kept, left) = try await OtherLibraries(configuration).leaving(items, in: store)
        guard !left.isEmpty else { return (self, []) }
        return (only(kept), bringsNewsFirst ? left.filter { $0.failure.kind != .usage } : left)
    }
}
