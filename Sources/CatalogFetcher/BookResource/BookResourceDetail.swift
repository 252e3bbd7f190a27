import BookModel

extension BookDescription {
    /// - Parameters:
    ///   - detail: the object of the detail answer that describes the book.
    ///   - address: where the answer came from.
    init(bookResourceDetail detail: JSONValue, from address: ResourceAddress) {
        func name(_ key: String) -> String? {
            detail[key]?.text.map { CatalogText.name($0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        let summary = [detail["description"], detail["desc"]].lazy
            .compactMap { $0?.string.map { CatalogText.paragraph($0) } }.first { !$0.isEmpty }
        self.init(
            title: name("name"), author: name("author"), narrator: name("announcer"), summary: summary,
            cover: detail["cover"]?.string.flatMap { CatalogAddress.resolve($0, against: address) })
    }
}
