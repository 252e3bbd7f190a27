import BookModel
import CatalogStore
import Settings

extension Configuration {
    /// The configuration for the libraries beside this one; nil where that is none of several.
    private var ofOtherLibraries: Configuration? {
        guard configuredLibraries.count > 1, configuredLibraries.contains(where: { $0.path == library }) else {
            return nil
        }
        var others = self
        others.configuredLibraries.removeAll { $0.path == library }
        others.isOneLibraryChosen = false
        return others
    }

    /// Why books are not fetched into this library: others have them.
    /// - Parameter store: of the library that they would be fetched into; nil while there is none.
    fileprivate func refusals(
        of books: [BookIdentity], store: CatalogStore?
    ) async throws -> [BookIdentity: FailureReport] {
        guard let others = ofOtherLibraries else { return [:] }
        let own = Set(try await store?.known(among: books) ?? [])
        let new = books.filter { !own.contains($0) }
        guard !new.isEmpty else { return [:] }
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
        return left
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
        let refusals = try await configuration.refusals(of: items.map(\.book), store: store)
        let left = items.compactMap { refusals[$0.book] }
        return (
            only(items.filter { refusals[$0.book] == nil }),
            bringsNewsFirst ? left.filter { $0.failure.kind != .usage } : left
        )
    }
}
