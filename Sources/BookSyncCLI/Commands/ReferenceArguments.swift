import BookModel
import BookSync

extension BookReference {
    /// The book that the REF names.
    ///
    /// - Throws: ``Failure`` when its source is not configured, or when it is an address.
    func book(in configuration: Configuration) throws -> BookIdentity {
        switch target {
        case .id(let id):
            return BookIdentity(source: configuration.defaultSource, id: id)
        case .book(let book):
            return book
        case .address(let address):
            throw Failure(
                .usage, what: "\(address) cannot be read", why: "this version reads book-resource catalogs only",
                remedy: "name a book by ID or SOURCE:ID")
        }
    }
}

extension EpisodeFilter {
    /// This filter with what another one asks for in its place.
    func overridden(by other: EpisodeFilter) -> EpisodeFilter {
        EpisodeFilter(
            only: other.only ?? only, latest: other.latest ?? latest, match: other.match ?? match,
            exclude: other.exclude ?? exclude)
    }
}
