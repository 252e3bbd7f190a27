import BookModel
import CLibXML2

/// Writes an XML 1.0 document in UTF-8, indented, through libxml2's writer, which escapes all that must be.
///
/// Characters that XML 1.0 §2.2 forbids are left out: no escape would make them legal.
package final class XMLWriter {
    private let buffer: xmlBufferPtr?
    private let writer: xmlTextWriterPtr?
    private var hasFailed = false

    package init() {
        buffer = xmlBufferCreate()
        writer = xmlNewTextWriterMemory(buffer, 0)
        check(xmlTextWriterSetIndent(writer, 1))
        check(xmlTextWriterSetIndentString(writer, "  "))
        check(xmlTextWriterStartDocument(writer, "1.0", "UTF-8", nil))
    }

    deinit {
        // The writer first: it holds on to the buffer.
        if let writer { xmlFreeTextWriter(writer) }
        if let buffer { xmlBufferFree(buffer) }
    }

    /// An element with others in it.
    package func element(_ name: String, _ attributes: KeyValuePairs<String, String> = [:], _ content: () -> Void) {
        start(name, attributes)
        content()
        check(xmlTextWriterEndElement(writer))
    }

    /// An element with text in it, or without content.
    package func element(_ name: String, _ attributes: KeyValuePairs<String, String> = [:], text: String? = nil) {
        start(name, attributes)
        if let text { check(xmlTextWriterWriteString(writer, Self.legal(text))) }
        check(xmlTextWriterEndElement(writer))
    }

    /// An element with attributes that are only known now, and with others in it, or empty.
    package func element(
        _ name: String, attributes: [(name: String, value: String)], _ content: (() throws -> Void)? = nil
    ) rethrows {
        check(xmlTextWriterStartElement(writer, name))
        for attribute in attributes {
            check(xmlTextWriterWriteAttribute(writer, attribute.name, Self.legal(attribute.value)))
        }
        try content?()
        check(xmlTextWriterEndElement(writer))
    }

    package func comment(_ text: String) {
        // Two dashes would end it (XML 1.0 §2.5).
        check(xmlTextWriterWriteComment(writer, " \(Self.legal(text).replacing(/-(?=-)/, with: "- ")) "))
    }

    /// The whole document. Nothing can be written afterwards.
    /// - Throws: ``Failure`` of kind `defect` when the library refused something, or there was no memory.
    package func finish() throws -> [UInt8] {
        check(xmlTextWriterEndDocument(writer))
        guard !hasFailed, let buffer, let content = xmlBufferContent(buffer) else {
            throw Failure(
                .defect, what: "an XML document cannot be written", why: "libxml2 refuses a part of it")
        }
        return Array(UnsafeBufferPointer(start: content, count: Int(xmlBufferLength(buffer))))
    }

    private func start(_ name: String, _ attributes: KeyValuePairs<String, String>) {
        check(xmlTextWriterStartElement(writer, name))
        for (key, value) in attributes { check(xmlTextWriterWriteAttribute(writer, key, Self.legal(value))) }
    }

    private func check(_ result: CInt) {
        if result < 0 { hasFailed = true }
    }

    /// The text without the characters that no document may hold.
    static func legal(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { !isLegal($0) }) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.filter(isLegal)))
    }

    private static func isLegal(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }
}
