import BookModel
import CatalogFetcher

/// A book as an OPF 2 package document, `metadata.opf`, of which library servers read the metadata.
package enum PackageDocument {
    private static let namespaces: KeyValuePairs = [
        "xmlns:dc": "http://purl.org/dc/elements/1.1/", "xmlns:opf": "http://www.idpf.org/2007/opf",
    ]

    package static func bytes(of exported: ExportedBook) throws -> [UInt8] {
        let book = exported.book
        let writer = XMLWriter()
        writer.element(
            "package",
            ["xmlns": "http://www.idpf.org/2007/opf", "version": "2.0", "unique-identifier": "booksync"]
        ) {
            writer.element("metadata", namespaces) {
                writer.element(
                    "dc:identifier", ["id": "booksync", "opf:scheme": "booksync"], text: exported.shownIdentity)
                writer.element("dc:title", text: book.title)
                for (name, role) in [(book.author, "aut"), (book.narrator, "nrt")] {
                    if let name, !name.isEmpty { writer.element("dc:creator", ["opf:role": role], text: name) }
                }
                if let summary = book.summary, !summary.isEmpty { writer.element("dc:description", text: summary) }
                // Library servers would show "und" as a language; and no catalog says when a book was published.
                if let language = exported.language { writer.element("dc:language", text: language) }
            }
        }
        return try writer.finish()
    }
}
