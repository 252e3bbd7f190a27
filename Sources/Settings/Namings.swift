import BookModel
import LibraryFiles

/// Which template names the files of each book.
package struct Namings: Sendable {
    private let standard: NamingTemplate
    private let override: NamingTemplate?
    private let sources: [String: NamingTemplate]
    private let books: [BookIdentity: NamingTemplate]

    /// - Throws: ``Failure`` of kind `usage` for a subscription that names no book.
    package init(of configuration: Configuration) throws {
        standard = configuration.naming
        override = configuration.namingOverride
        sources = configuration.sources.compactMapValues(\.naming)
        let named = try configuration.subscriptions.compactMap { subscription in
            try subscription.naming.map { (try configuration.book(subscription.reference), $0) }
        }
        books = Dictionary(named) { first, _ in first }
    }

    /// The one for all that was asked for; else the book's, its source's, the library's.
    /// - Parameter stored: the template of the library's subscription to the book. The configuration's wins over it.
    /// - Throws: ``Failure`` of kind `configuration` when that cannot be read.
    package func template(for book: BookIdentity, stored: String?) throws -> NamingTemplate {
        if let template = override ?? books[book] { return template }
        if let stored { return try NamingTemplate(parsing: stored) }
        return sources[book.source] ?? standard
    }
}
