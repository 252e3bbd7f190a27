import BookModel

/// What a document of an OPDS catalog says: a feed, a publication's entry, or a publication's manifest.
struct OPDSDocument {
    let base: ResourceAddress
    private let isFeed: Bool
    /// The feed's own.
    let links: [OPDSLink]
    /// How many publications the whole feed has, ebooks included.
    let declared: Int?
    /// Those of a feed; else the one that the document is about.
    let publications: [OPDSPublication]

    /// - Throws: ``Failure`` of kind `unreadableCatalog`.
    init(_ answer: CatalogResponse, for subject: ErrorContext, secrets: SecretMask = SecretMask([])) throws {
        var answer = answer
        if answer.firstByte == UInt8(ascii: "<"), let json = try Self.json(ofAtom: answer.bytes, for: subject) {
            answer.bytes = json
        }
        let object = try answer.json(for: subject, secrets: secrets)
        let base = answer.address ?? DirectorySettings.unknownAddress
        self.base = base
        isFeed = ["publications", "navigation", "groups"].contains { object[$0] != nil }
        links = OPDSLink.all(object["links"], from: base)
        declared = object["metadata"]?["numberOfItems"]?.integer.flatMap { $0 < 0 ? nil : Int(exactly: $0) }
        let lists = [object] + (object["groups"].map { Array($0.elements) } ?? [])
        let listed = lists.flatMap { $0["publications"].map { Array($0.elements) } ?? [] }
        publications = (isFeed ? listed : [object]).map { OPDSPublication($0, from: base) }
    }

    /// Atom, which OPDS 1.2 is, as the JSON of OPDS 2.0 that says the same; nil for what is no Atom.
    private static func json(ofAtom bytes: [UInt8], for subject: ErrorContext) throws -> [UInt8]? {
        func quoted(_ text: String) -> String { JSONDocument.string(text).text() }
        func member(_ key: String, _ text: String) -> String { "\(quoted(key)):\(quoted(text))" }
        let (elements, isWhole) = XMLElement.all(in: bytes)
        guard let root = elements.first?.name, root == "feed" || root == "entry" else { return nil }
        guard isWhole else { throw subject.unreadable(why: "the answer ends too early") }
        /// Of the feed, then of each of its entries.
        var parts: [(metadata: [String], authors: [String], links: [String])] = [([], [], [])]
        for element in elements {
            if element.name == "entry" { parts.append(([], [], [])) }
            let part = element.parent == "feed" && element.name != "entry" ? 0 : parts.count - 1
            let text = element.text
            switch (element.parent, element.name) {
            case ("feed", "totalResults"): parts[part].metadata.append(member("numberOfItems", text))
            case ("entry", "title"), ("entry", "language"): parts[part].metadata.append(member(element.name, text))
            case ("entry", "summary"), ("entry", "content"): parts[part].metadata.append(member("description", text))
            case ("author", "name"): parts[part].authors.append(quoted(text))
            case (_, "link"): parts[part].links.append("{\(element.attributes.map(member).joined(separator: ","))}")
            default: break
            }
            if let type = element.attributes["additionalType"] { parts[part].metadata.append(member("@type", type)) }
        }
        let objects = parts.map { part in
            let metadata = part.metadata + ["\"author\":[\(part.authors.joined(separator: ","))]"]
            return "\"metadata\":{\(metadata.joined(separator: ","))},\"links\":[\(part.links.joined(separator: ","))]"
        }
        let entries = objects.dropFirst().map { "{\($0)}" }
        let feed = "{\(objects[0]),\"publications\":[\(entries.joined(separator: ","))]}"
        return Array((root == "feed" ? feed : entries[0]).utf8)
    }

    var isBook: Bool { !isFeed && publications[0].isRecognised }

    /// - Throws: ``Failure`` of kind `unreadableCatalog` when there are several, or none.
    func book(for subject: ErrorContext) throws -> OPDSPublication {
        guard publications.count == 1 else {
            throw subject.unreadable(why: "it is a list of \(Message(publications.count, "book"))")
        }
        return publications[0]
    }
}
