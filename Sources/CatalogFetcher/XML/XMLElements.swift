import TextParsing

/// Reads small files of other programs that hold all they say in attributes.
package enum XMLElements {
    /// The attributes of every element of a name, in the order of the document.
    package static func attributes(of element: String, in bytes: [UInt8]) -> [[String: String]] {
        var decoder = TextDecoder(charset: nil)
        var markup = XMLReader(Collector(wanted: element))
        bytes.withUnsafeBufferPointer { decoder.consume($0) { markup.consume($0) } }
        decoder.finish { markup.consume($0) }
        markup.finish()
        return markup.handler.found
    }

    private struct Collector: XMLHandler {
        let wanted: String
        private(set) var found: [[String: String]] = []
        private var names: [String] = []

        init(wanted: String) { self.wanted = wanted }

        func element(_ name: XMLName) -> UInt8 { name.local == wanted ? 2 : 1 }

        mutating func attribute(_ name: XMLName) -> UInt8 {
            guard names.count < 250 else { return 0 }
            names.append(name.local)
            return UInt8(names.count)
        }

        mutating func startElement(_ element: UInt8, _ attributes: XMLAttributes) {
            guard element == 2 else { return }
            let values = attributes.map { (names[Int($0.attribute) - 1], String(decoding: $0.value, as: UTF8.self)) }
            found.append(Dictionary(values) { first, _ in first })
        }

        func text(_ bytes: UnsafeBufferPointer<UInt8>) {}
        func endElement() {}
    }
}
