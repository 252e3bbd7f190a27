import CLibXML2

/// libxml2's SAX push parser: bytes go in as they arrive, elements and text come out, and no tree is built.
///
/// It goes on after errors, loads nothing and reads no DTD. What it is given is UTF-8 that an ``XMLCleaner`` has made harmless:
/// no entity is left to expand.
final class XMLPushParser {
    private let handler: any XMLEventHandler
    private var context: xmlParserCtxtPtr?
    private var elements = XMLNameTable()
    private var attributes = XMLNameTable()

    init(handler: any XMLEventHandler) {
        self.handler = handler
        xmlInitParser()
        var events = xmlSAXHandler()
        events.initialized = XML_SAX2_MAGIC
        events.startElementNs = { context, local, prefix, namespace, _, _, count, _, fields in
            XMLPushParser.of(context) { $0.start(local, prefix, namespace, fields, Int(count)) }
        }
        events.endElementNs = { context, _, _, _ in XMLPushParser.of(context) { $0.handler.endElement() } }
        events.characters = { context, bytes, count in XMLPushParser.of(context) { $0.text(bytes, count) } }
        events.ignorableWhitespace = events.characters
        events.cdataBlock = events.characters
        // Only without memory there is none; then the document has no elements, which is told as such.
        context = xmlCreatePushParserCtxt(&events, Unmanaged.passUnretained(self).toOpaque(), nil, 0, nil)
        // Without NOENT, an ampersand in an attribute is handed on as the reference `&#38;`.
        let options = [XML_PARSE_NOENT, XML_PARSE_RECOVER, XML_PARSE_NONET, XML_PARSE_NOERROR, XML_PARSE_NOWARNING]
        _ = xmlCtxtUseOptions(context, CInt(options.reduce(0) { $0 | $1.rawValue }))
    }

    deinit {
        if let context { xmlFreeParserCtxt(context) }
    }

    func parse(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let context, let start = bytes.baseAddress else { return }
        start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
            _ = xmlParseChunk(context, $0, CInt(bytes.count), 0)
        }
    }

    func finish() {
        if let context { _ = xmlParseChunk(context, nil, 0, 1) }
    }

    func attribute(local: XMLNameTable.Text?, prefix: XMLNameTable.Text?, namespace: XMLNameTable.Text?) -> UInt8 {
        attributes.number(local: local, prefix: prefix, namespace: namespace) { handler.attribute($0) }
    }

    private func start(
        _ local: XMLNameTable.Text?, _ prefix: XMLNameTable.Text?, _ namespace: XMLNameTable.Text?,
        _ fields: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, _ count: Int
    ) {
        let element = elements.number(local: local, prefix: prefix, namespace: namespace) { handler.element($0) }
        handler.startElement(element, XMLAttributes(parser: self, fields: fields, count: count))
    }

    private func text(_ bytes: UnsafePointer<UInt8>?, _ count: CInt) {
        if let bytes, count > 0 { handler.text(UnsafeBufferPointer(start: bytes, count: Int(count))) }
    }

    /// The parser is alive as long as libxml2's context, which it owns.
    private static func of(_ context: UnsafeMutableRawPointer?, _ body: (XMLPushParser) -> Void) {
        guard let context else { return }
        Unmanaged<XMLPushParser>.fromOpaque(context)._withUnsafeGuaranteedRef(body)
    }
}
