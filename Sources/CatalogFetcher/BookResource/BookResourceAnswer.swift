import BookModel

/// The envelope of a book-resource answer: `{list, sections, …}`, or the same wrapped in `data`.
struct BookResourceAnswer {
    private let root: JSONValue
    /// The members of the object and, where there is no such member, of its `data`.
    private var fields: [String: JSONValue] = [:]
    private static let known: Set<String> = [
        "list", "data", "sections", "bookId", "status", "apiStatus", "msg", "message",
    ]

    init(_ root: JSONValue) {
        self.root = root
        // One walk over each, because a walk goes through the whole page.
        for (key, value) in root.members where Self.known.contains(key) { fields[key] = value }
        guard let data = fields["data"] else { return }
        for (key, value) in data.members where Self.known.contains(key) {
            // `data` within `data` is the list of the web's shape.
            let name = key == "data" ? "data.data" : key
            if fields[name] == nil { fields[name] = value }
        }
    }

    /// A status that tells of an error if any of the fields does, else one that doesn't.
    private var status: String? {
        let stated = [fields["status"], fields["apiStatus"]].compactMap { $0?.text }
        return stated.first { !BookResourceVerdict.isGood($0) } ?? stated.first
    }

    private var message: String { fields["msg"]?.string ?? fields["message"]?.string ?? "" }

    var verdict: BookResourceVerdict { BookResourceVerdict.decide(status: status, message: message) }

    /// How the catalog says no: `it answers status 4 "非法请求"`.
    func complaint(masked secrets: SecretMask) -> Message {
        let quoted = CatalogText.quotation(secrets.masking(message), length: 200)
        let shownStatus = CatalogText.quotation(secrets.masking(status ?? ""), length: 20)
        return quoted.isEmpty
            ? "it answers status \(shownStatus) without a message" : "it answers status \(shownStatus) \"\(quoted)\""
    }

    /// How many episodes the book is declared to have; nil when the answer does not say, or nothing sensible.
    var declared: Int? {
        guard let sections = fields["sections"]?.integer, sections > 0 else { return nil }
        return Int(exactly: sections)
    }

    enum Elements {
        case list(JSONElements)
        /// `null`, or missing from an answer that is otherwise one of this API.
        case missing
        /// Not an answer of this API.
        case foreign(Message)
    }

    var elements: Elements {
        guard root.kind == .object else { return .foreign("the answer is \(Self.name(of: root)) and no object") }
        for candidate in [fields["list"], fields["data.data"], fields["data"]] {
            if let candidate, candidate.kind == .array { return .list(candidate.elements) }
        }
        if let list = fields["list"], !list.isNull {
            return .foreign("its list is \(Self.name(of: list)) and no array")
        }
        let isOurs = ["list", "sections", "bookId", "status", "apiStatus"].contains { fields[$0] != nil }
        return isOurs ? .missing : .foreign("the answer has no list of episodes")
    }

    /// How the answer begins, for a sentence.
    func beginning(masked secrets: SecretMask) -> String {
        secrets.quotation(root.withSourceBytes { Array($0.prefix(8000)) })
    }

    /// What the detail answer describes the book with: the root or, wrapped, its `data`.
    var detail: JSONValue {
        guard let data = fields["data"], data.kind == .object else { return root }
        return data
    }

    private static func name(of value: JSONValue) -> Message {
        switch value.kind {
        case .null: Message(verbatim: "null")
        case .boolean: "a truth value"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
