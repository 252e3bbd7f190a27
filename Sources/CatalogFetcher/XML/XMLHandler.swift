/// The name of an element or an attribute as a document writes it.
struct XMLName {
    var local: String
    var prefix: String?
    /// The address that the prefix stands for; nil where the document does not say.
    var namespace: String?
}

/// Is told what a document is made of, as it is read. Names are told once; from then on an element is the number that the
/// handler gave its name, so that nothing is allocated for the thousands that follow.
protocol XMLHandler {
    /// - Returns: the handler's number for elements of that name.
    mutating func element(_ name: XMLName) -> UInt8
    /// - Returns: the handler's number for attributes of that name; 0 for one that is not wanted.
    mutating func attribute(_ name: XMLName) -> UInt8
    mutating func startElement(_ element: UInt8, _ attributes: XMLAttributes)
    /// A piece of text in UTF-8, references resolved; a character may be cut between two pieces. The bytes are only good
    /// during the call.
    mutating func text(_ bytes: UnsafeBufferPointer<UInt8>)
    mutating func endElement()
}

/// The attributes of an element that the handler has a number for, each with its value in UTF-8; only good during the
/// call that hands them over.
struct XMLAttributes: Sequence, IteratorProtocol {
    /// What the numbers and values of a tag's attributes are written in.
    typealias Field = (number: UInt8, value: Range<Int>)

    private let fields: UnsafeBufferPointer<Field>
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0

    init(fields: UnsafeBufferPointer<Field>, in bytes: UnsafeBufferPointer<UInt8>) {
        self.fields = fields
        self.bytes = bytes
    }

    var isEmpty: Bool { fields.isEmpty }

    mutating func next() -> (attribute: UInt8, value: UnsafeBufferPointer<UInt8>)? {
        guard index < fields.count else { return nil }
        defer { index += 1 }
        return (fields[index].number, UnsafeBufferPointer(rebasing: bytes[fields[index].value]))
    }
    /// The values that are not blank, without white space around them. Of two attributes of one name the first counts.
    func values<Attribute: RawRepresentable<UInt8> & Hashable>() -> [Attribute: String] {
        var values: [Attribute: String] = [:]
        for (number, value) in self {
            guard let attribute = Attribute(rawValue: number), values[attribute] == nil else { continue }
            let text = CatalogText.trimmed(String(decoding: value, as: UTF8.self))
            if !text.isEmpty { values[attribute] = text }
        }
        return values
    }
}
