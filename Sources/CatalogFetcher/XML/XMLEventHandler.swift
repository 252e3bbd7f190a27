import CLibXML2

/// The name of an element or an attribute as a document writes it.
struct XMLName {
    var local: String
    var prefix: String?
    /// The address that the prefix stands for; nil where the document does not say.
    var namespace: String?
}

/// Is told what a document is made of, as it is read. Names are told once each; from then on an element is the number
/// that the handler gave its name, so that nothing is allocated for the thousands that follow.
protocol XMLEventHandler: AnyObject {
    /// - Returns: the handler's number for elements of that name.
    func element(_ name: XMLName) -> UInt8
    /// - Returns: the handler's number for attributes of that name; 0 for one that is not wanted.
    func attribute(_ name: XMLName) -> UInt8
    func startElement(_ element: UInt8, _ attributes: XMLAttributes)
    /// A piece of text in UTF-8, references resolved. The bytes are only good during the call.
    func text(_ bytes: UnsafeBufferPointer<UInt8>)
    func endElement()
}

/// The attributes of an element that the handler has a number for, each with its value in UTF-8; only good during the
/// call that hands them over.
struct XMLAttributes: Sequence, IteratorProtocol {
    private let parser: XMLPushParser
    /// Five pointers for each attribute: name, prefix, namespace, the value's beginning and its end.
    private let fields: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?
    private var index = 0
    /// How many there are, those without a number included.
    let count: Int

    init(parser: XMLPushParser, fields: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, count: Int) {
        self.parser = parser
        self.fields = fields
        self.count = fields == nil ? 0 : count
    }

    mutating func next() -> (attribute: UInt8, value: UnsafeBufferPointer<UInt8>)? {
        guard let fields else { return nil }
        while index < count {
            let field = fields + index * 5
            index += 1
            guard let start = field[3], let end = field[4], end >= start else { continue }
            let attribute = parser.attribute(local: field[0], prefix: field[1], namespace: field[2])
            if attribute != 0 { return (attribute, UnsafeBufferPointer(start: start, count: end - start)) }
        }
        return nil
    }
}
