import BookModel

extension BookDescription {
    /// - Parameters:
    ///   - detail: the object of the detail answer that describes the book.
    ///   - address: where the answer came from.
    init(bookResourceDetail detail: JSONValue, from address: ResourceAddress) {
        let summary = [detail["description"], detail["desc"]].lazy
            .compactMap { $0?.string.map { CatalogText.paragraph($0) } }.first { !$0.isEmpty }
        self.init(
            title: detail["name"]?.name, author: detail["author"]?.name, narrator: detail["announcer"]?.name,
            summary: summary,
            cover: detail["cover"]?.string.flatMap { CatalogAddress.resolve($0, against: address) })
    }
}
