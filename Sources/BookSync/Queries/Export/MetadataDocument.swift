import BookModel

/// A book as Audiobookshelf's `metadata.json`. Only what is known is written: the file outranks all that the server
/// knows otherwise, and a null would take that away.
package enum MetadataDocument {
    package static func text(of exported: ExportedBook) -> String {
        let book = exported.book
        var document: JSONDocument = ["title": .string(book.title)]
        func add(_ key: String, _ value: JSONDocument?) {
            if let value { document = document.adding(.object([.init(key: key, value: value)])) }
        }
        func people(_ name: String?) -> JSONDocument? {
            name.flatMap { $0.isEmpty ? nil : .array([.string($0)]) }
        }
        add("authors", people(book.author))
        add("narrators", people(book.narrator))
        add("description", book.summary.flatMap { $0.isEmpty ? nil : .string($0) })
        add("language", exported.language.map(JSONDocument.string))
        return document.text(isIndented: true) + "\n"
    }
}
