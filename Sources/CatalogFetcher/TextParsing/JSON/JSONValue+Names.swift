extension JSONValue {
    /// The names in a value: a text, an object with a `name` or a `value`, an object with a text for each language, of which
    /// the first counts, or an array of these.
    ///
    /// - Parameter depth: how many objects and arrays within each other are looked into.
    package func names(depth: Int = 4) -> [String] {
        switch kind {
        case .array where depth > 0: elements.prefix(1000).flatMap { $0.names(depth: depth - 1) }
        case .object where depth > 0:
            (self["name"] ?? self["value"] ?? members.first { _ in true }?.value)?.names(depth: depth - 1) ?? []
        default: [CatalogText.name(String((text ?? "").prefix(1000)))].filter { !$0.isEmpty }
        }
    }

    /// The name that a text is.
    var name: String? { names(depth: 0).first }

    package var joinedNames: String? {
        let names = names()
        return names.isEmpty ? nil : names.prefix(5).joined(separator: ", ")
    }
}
