/// An element of a small document.
package struct XMLElement {
    /// Without its prefix, as all names here.
    package let name: String
    /// The name of the element around it; empty for the outermost.
    package let parent: String
    package let attributes: [String: String]
    /// Without that of the elements in it.
    package fileprivate(set) var text = ""

    /// Elements of a document; more are not kept.
    private static let maxCount = 500_000

    /// The elements of a document in the order of their beginnings; and whether it ended where one may end.
    package static func all(in bytes: [UInt8]) -> (elements: [XMLElement], isWhole: Bool) {
        let (collector, isWhole) = XMLReader.read(bytes, into: Collector())
        return (collector.found, isWhole)
    }

    private struct Collector: XMLHandler {
        private(set) var found: [XMLElement] = []
        /// The first stands for those that are too many.
        private var names = [""]
        /// The elements that are open, with their texts so far, the innermost last.
        private var open: [(index: Int?, text: [UInt8])] = []

        private mutating func number(of name: XMLName) -> UInt8 {
            if let known = names.firstIndex(of: name.local) { return UInt8(known) }
            guard names.count < 250 else { return 0 }
            names.append(name.local)
            return UInt8(names.count - 1)
        }

        mutating func element(_ name: XMLName) -> UInt8 { number(of: name) }
        mutating func attribute(_ name: XMLName) -> UInt8 { number(of: name) }

        mutating func startElement(_ element: UInt8, _ attributes: XMLAttributes) {
            let values = attributes.map { (names[Int($0.attribute)], String(decoding: $0.value, as: UTF8.self)) }
            guard found.count < maxCount else { return open.append((nil, [])) }
            let parent = open.last?.index.map { found[$0].name } ?? ""
            open.append((found.count, []))
            found.append(
                XMLElement(
                    name: names[Int(element)], parent: parent, attributes: Dictionary(values) { first, _ in first }))
        }

        mutating func text(_ bytes: UnsafeBufferPointer<UInt8>) {
            if !open.isEmpty { open[open.count - 1].text += bytes }
        }

        mutating func endElement() {
            guard let ended = open.popLast(), let index = ended.index else { return }
            found[index].text = String(decoding: ended.text, as: UTF8.self)
        }
    }
}
