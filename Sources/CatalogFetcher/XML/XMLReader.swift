/// Reads the markup of a document as it is found on the web, well-formed or not, and tells a handler what it is made of, as
/// the bytes arrive. What a well-formed document says is told as any XML parser tells it; beyond that:
///
/// - References to characters are read whether the document defines them or not, HTML's names too; any other `&` is text.
///   What a DTD of the document's own may have declared stands for nothing. So there is nothing to expand.
/// - DTDs, comments, processing instructions and the XML declaration are stepped over, and so are control characters.
/// - A `<` that begins nothing is text.
/// - Attributes need no quotes (``XMLTag``); a tag that is too long is left out.
/// - An end without a beginning is left out, and the end of an element ends what was left open inside it
///   (``XMLNesting``).
///
/// Where in the markup it is, and what leads from there:
///
///     text        `<` → opening; `&` → reference
///     opening     `!` → declaration; `?` → skipped; what begins a name, `/` → tag; the rest → text, and it was text
///     tag         its end → text; too long → skipped
///     reference   its end → text
///     declaration `--` → comment; `[CDATA[` → section; `DOCTYPE` → documentType; the rest → skipped
///     comment     `-->` → text        section      `]]>` → text
///     skipped     `>` → text          documentType its end → text
struct XMLReader<Handler: XMLHandler> {
    private enum State: Equatable {
        case text, opening, tag, reference, declaration, comment, section, skipped, documentType
    }

    private(set) var handler: Handler
    /// Tags that were left out because they are too long.
    private(set) var skippedTags = 0

    private var state = State.text
    private var tag = XMLTag()
    private var nesting = XMLNesting()
    private var names = XMLNames()
    private var fields: [XMLAttributes.Field] = []
    private var reference = CharacterReference.Reader()
    private var documentType = DocumentTypeSkipper()
    /// What came after `<!`, as long as it may begin several things.
    private var declaration: [UInt8] = []
    /// How many bytes in a row are of the end that is waited for (`--`, `]]`).
    private var endBytes = 0
    /// Whether the byte before was a carriage return, which was told as a line feed.
    private var followsReturn = false

    init(_ handler: Handler) {
        self.handler = handler
    }

    /// Whether the document ended where one may end.
    var isAtEnd: Bool { state == .text && nesting.isEmpty }

    /// - Parameter bytes: valid UTF-8; a character may be cut at the end.
    mutating func consume(_ bytes: UnsafeBufferPointer<UInt8>) {
        var position = 0
        while position < bytes.count {
            switch state {
            case .text: consumeText(bytes, &position)
            case .opening: consumeOpening(bytes, &position)
            case .tag: consumeTag(bytes, &position)
            case .reference:
                let text = reference.consume(bytes, &position, dropsUnknown: documentType.hasSubset)
                if let text {
                    tell(text)
                    state = .text
                }
            case .declaration: consumeDeclaration(bytes, &position)
            case .comment: consumeComment(bytes, &position)
            case .section: consumeSection(bytes, &position)
            case .skipped:
                if bytes[position] == UInt8(ascii: ">") { state = .text }
                position += 1
            case .documentType:
                if documentType.consume(bytes, &position) { state = .text }
            }
        }
    }

    /// Says that nothing follows. Elements that are open stay so.
    mutating func finish() {
        if state == .reference { tell(reference.finish()) }
        if state == .opening { tell([UInt8(ascii: "<")]) }
    }

    // MARK: Text

    private mutating func consumeText(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) {
        tellRun(bytes, &position, until: UInt8(ascii: "<"), or: UInt8(ascii: "&"))
        guard position < bytes.count else { return }
        switch bytes[position] {
        case UInt8(ascii: "<"): state = .opening
        case UInt8(ascii: "&"): state = .reference
        default: break
        }
        position += 1
    }

    /// Tells of the bytes before the next of those two, or before a control character other than a tab or a line feed: it is
    /// left to the caller to step over what ends the run. Ends of lines are line feeds (XML 1.0 §2.11).
    private mutating func tellRun(
        _ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int, until first: UInt8, or second: UInt8
    ) {
        if followsReturn {
            followsReturn = false
            if bytes[position] == 0x0A { position += 1 }
        }
        let start = position
        while position < bytes.count, bytes[position] != first, bytes[position] != second,
            bytes[position] >= 0x20 || bytes[position] == 0x0A || bytes[position] == 0x09
        {
            position += 1
        }
        if position > start { handler.text(UnsafeBufferPointer(rebasing: bytes[start..<position])) }
        if position < bytes.count, bytes[position] == 0x0D {
            tell([0x0A])
            followsReturn = true
        }
    }

    private mutating func tell(_ text: [UInt8]) {
        text.withUnsafeBufferPointer { if !$0.isEmpty { handler.text($0) } }
    }

    private mutating func consumeOpening(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) {
        let byte = bytes[position]
        switch byte {
        case UInt8(ascii: "!"):
            state = .declaration
            declaration.removeAll(keepingCapacity: true)
        case UInt8(ascii: "?"): state = .skipped
        case UInt8(ascii: "/"), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x80...0xFF:
            tag.begin(with: byte)
            state = .tag
        default:
            tell([UInt8(ascii: "<")])
            state = .text
            return
        }
        position += 1
    }

    // MARK: Tags

    private mutating func consumeTag(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) {
        switch tag.consume(bytes, &position, dropsUnknown: documentType.hasSubset) {
        case .open: break
        case .ended:
            state = .text
            endTag()
        case .tooLong:
            skippedTags += 1
            state = .skipped
        }
    }

    private mutating func endTag() {
        let name = XMLNames.hash(tag.bytes[tag.name])
        if tag.isEnd {
            for _ in 0..<nesting.end(name) { endElement() }
            return
        }
        let isDelivered = nesting.hasRoom
        if !tag.isEmpty { nesting.begin(name) }
        guard isDelivered else { return }
        startElement()
        if tag.isEmpty { endElement() }
    }

    private mutating func startElement() {
        names.enter(tag)
        let element = names.number(of: tag.bytes[tag.name], isElement: true) { handler.element($0) }
        fields.removeAll(keepingCapacity: true)
        for attribute in tag.attributes {
            let number = names.number(of: tag.bytes[attribute.name], isElement: false) { handler.attribute($0) }
            if number != 0 { fields.append((number, attribute.value)) }
        }
        tag.bytes.withUnsafeBufferPointer { bytes in
            fields.withUnsafeBufferPointer { handler.startElement(element, XMLAttributes(fields: $0, in: bytes)) }
        }
    }

    private mutating func endElement() {
        handler.endElement()
        names.leave()
    }

    // MARK: Declarations

    /// Tells comments, CDATA sections and DTDs apart by what comes after `<!`.
    private mutating func consumeDeclaration(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) {
        declaration.append(bytes[position])
        position += 1
        endBytes = 0
        if declaration.elementsEqual("--".utf8) {
            state = .comment
        } else if declaration.elementsEqual("[CDATA[".utf8) {
            state = .section
        } else if declaration.elementsEqual("DOCTYPE".utf8) {
            documentType = DocumentTypeSkipper()
            state = .documentType
        } else if !["--", "[CDATA[", "DOCTYPE"].contains(where: { $0.utf8.starts(with: declaration) }) {
            // No declaration that there is.
            state = declaration.last == UInt8(ascii: ">") ? .text : .skipped
        }
    }

    private mutating func consumeComment(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) {
        let byte = bytes[position]
        position += 1
        if byte == UInt8(ascii: ">"), endBytes >= 2 { state = .text }
        endBytes = byte == UInt8(ascii: "-") ? endBytes + 1 : 0
    }

    private mutating func consumeSection(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) {
        let byte = bytes[position]
        if byte == UInt8(ascii: "]") {
            endBytes += 1
            followsReturn = false
            position += 1
        } else if byte == UInt8(ascii: ">"), endBytes >= 2 {
            tell([UInt8](repeating: UInt8(ascii: "]"), count: endBytes - 2))
            state = .text
            position += 1
        } else {
            tell([UInt8](repeating: UInt8(ascii: "]"), count: endBytes))
            endBytes = 0
            tellRun(bytes, &position, until: UInt8(ascii: "]"), or: UInt8(ascii: "]"))
            if position < bytes.count, bytes[position] != UInt8(ascii: "]") { position += 1 }
        }
    }
}

extension XMLReader {
    /// Reads a whole document.
    ///
    /// - Returns: the handler with what it was told; and whether the document ended where one may end.
    static func read(_ bytes: [UInt8], into handler: Handler) -> (Handler, isWhole: Bool) {
        var decoder = TextDecoder(charset: nil)
        var markup = XMLReader(handler)
        bytes.withUnsafeBufferPointer { decoder.consume($0) { markup.consume($0) } }
        decoder.finish { markup.consume($0) }
        let isWhole = markup.isAtEnd
        markup.finish()
        return (markup.handler, isWhole)
    }
}
