import Foundation

@testable import CatalogFetcher

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// What a document is made of, an event a line; text that comes in pieces is one event.
enum XMLEvents {
    /// - Parameter cuts: where the bytes are cut into pieces.
    static func ours(_ bytes: [UInt8], cutAt cuts: some Sequence<Int> = []) -> (events: [String], isAtEnd: Bool) {
        var reader = XMLReader(Recorder())
        var start = 0
        for cut in Array(cuts) + [bytes.count] {
            bytes[start..<cut].withUnsafeBufferPointer { reader.consume($0) }
            start = cut
        }
        let isAtEnd = reader.isAtEnd
        reader.finish()
        return (reader.handler.log.finished, isAtEnd)
    }

    /// As Foundation's parser tells it; nil where it finds the document not well-formed.
    static func foundations(_ bytes: [UInt8]) -> [String]? {
        let parser = XMLParser(data: Data(bytes))
        let recorder = FoundationRecorder()
        parser.delegate = recorder
        parser.shouldProcessNamespaces = true
        return parser.parse() && parser.parserError == nil ? recorder.log.finished : nil
    }

    struct Log {
        private var events: [String] = []
        private var text: [UInt8] = []
        private var depth = 0

        var finished: [String] { flushed.events }

        private var flushed: Log {
            var copy = self
            // White space outside of the root is no text.
            if depth > 0 ? !text.isEmpty : text.contains(where: { $0 > 0x20 }) {
                copy.events.append("'\(String(decoding: text, as: UTF8.self))'")
            }
            copy.text = []
            return copy
        }

        mutating func append(text more: some Sequence<UInt8>) { text += more }

        mutating func start(_ name: String, namespace: String?, _ attributes: [String: String]) {
            self = flushed
            let written = attributes.filter { $0.key != "xmlns" && !$0.key.hasPrefix("xmlns:") }
                .map { " \($0.key)='\($0.value)'" }.sorted().joined()
            depth += 1
            events.append("<" + name + (namespace.map { " {\($0)}" } ?? "") + written)
        }

        mutating func end() {
            self = flushed
            depth -= 1
            events.append(">")
        }
    }

    private struct Recorder: XMLHandler {
        var log = Log()
        private var elements: [XMLName] = []
        private var attributes: [XMLName] = []

        mutating func element(_ name: XMLName) -> UInt8 {
            elements.append(name)
            return UInt8(elements.count - 1)
        }

        mutating func attribute(_ name: XMLName) -> UInt8 {
            attributes.append(name)
            return UInt8(attributes.count)
        }

        mutating func startElement(_ element: UInt8, _ attributes: XMLAttributes) {
            let values = attributes.map { number, value in
                let name = self.attributes[Int(number) - 1]
                return ((name.prefix.map { $0 + ":" } ?? "") + name.local, String(decoding: value, as: UTF8.self))
            }
            let name = elements[Int(element)]
            log.start(name.local, namespace: name.namespace, Dictionary(values) { first, _ in first })
        }

        mutating func text(_ bytes: UnsafeBufferPointer<UInt8>) { log.append(text: bytes) }
        mutating func endElement() { log.end() }
    }

    private final class FoundationRecorder: NSObject, XMLParserDelegate {
        var log = Log()

        func parser(
            _: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            log.start(name, namespace: namespaceURI.flatMap { $0.isEmpty ? nil : $0 }, attributes)
        }

        func parser(_: XMLParser, didEndElement: String, namespaceURI: String?, qualifiedName: String?) { log.end() }
        func parser(_: XMLParser, foundCharacters text: String) { log.append(text: text.utf8) }
        func parser(_: XMLParser, foundCDATA block: Data) { log.append(text: block) }
    }
}
