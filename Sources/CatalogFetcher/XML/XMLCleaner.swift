/// Makes the markup of a document as it is found on the web into one that an XML parser reads to its end.
///
/// It takes UTF-8 in pieces and gives UTF-8 that is well-formed where it matters:
/// - References to characters become the characters, whether the document defines them or not; any other `&` is one.
///   What a DTD of the document's own may have declared is left out. So there is nothing to expand.
/// - DTDs, comments, processing instructions and the XML declaration are left out.
/// - Control characters are left out, and a `<` that begins nothing is text.
/// - Attributes are quoted (``XMLTag``); a tag above ``greatestTag`` bytes is left out.
/// - Elements are nested properly: an end without a beginning is left out, and the end of an element ends what was left
///   open inside it. Below ``greatestDepth`` levels elements are left out, and their text is kept.
/// - All is inside of one root element, so that nothing comes after the root; it declares the prefixes that feeds use
///   without declaring them.
///
/// Whole tags and small sections come out, so that the parser behind it never has to search for an end.
struct XMLCleaner {
    static let greatestTag = 1 << 20
    static let greatestDepth = 256
    /// Bytes of a CDATA section that are passed on as one.
    static let greatestSection = 8 << 10

    enum State: Equatable {
        case text
        /// After `<`.
        case opening
        /// Within a tag, outside of its attributes' values.
        case tag
        case value(quote: UInt8)
        case skippedTag
        /// After `<!`: what follows is in `held`.
        case declaration
        case comment
        case section
        case instruction
        case documentType
        /// After `&`, in text or in the value that the quote ends.
        case reference(quote: UInt8?)
    }

    var state = State.text
    /// What is ready for the parser, and behind ``tagStart`` a tag that is not whole yet.
    var output: [UInt8] = []
    var tagStart: Int?
    /// The beginning of what cannot be told yet: of a reference, or of a declaration.
    var held: [UInt8] = []
    /// How many bytes in a row are of the end that is waited for (`--`, `]]`).
    var endBytes = 0
    var documentType = DocumentTypeSkipper()
    var nesting = XMLNesting()
    /// Equals signs in the tag at hand; more than ``XMLTag/greatestNumberOfAttributes`` are an attack.
    var equals = 0
    /// The last byte of a tag that is not white space: an opening quote comes after `=`.
    var lastInTag: UInt8 = 0
    /// Tags that were left out because they are too long.
    private(set) var skippedTags = 0

    /// - Parameter prefixes: prefixes with what they stand for where the document does not say.
    init(prefixes: KeyValuePairs<String, String>) {
        let declarations = prefixes.map { " xmlns:\($0.key)=\"\($0.value)\"" }.joined()
        output = Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?><document\(declarations)>".utf8)
    }

    /// Whether the document ended where one may end.
    var isAtEnd: Bool { state == .text && nesting.isEmpty }

    /// Passes on what is ready, in whole characters, and forgets it: libxml2 gives up at a piece that ends within one.
    mutating func takeReady(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        let end = tagStart ?? output.withUnsafeBufferPointer { UTF8Sequence.endOfWholeCharacters($0, 0..<$0.count) }
        guard end > 0 else { return }
        output.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[..<end])) }
        output.removeFirst(end)
        if tagStart != nil { tagStart = 0 }
    }

    /// - Parameter bytes: valid UTF-8; a character may be cut at the end.
    mutating func consume(_ bytes: UnsafeBufferPointer<UInt8>) {
        var position = 0
        while position < bytes.count {
            switch state {
            case .text: consumeText(bytes, &position)
            case .opening: consumeOpening(bytes, &position)
            case .tag: consumeTag(bytes, &position)
            case .value(let quote): consumeValue(bytes, &position, quote: quote)
            case .skippedTag: skip(bytes, &position, past: UInt8(ascii: ">"))
            case .reference(let quote): consumeReference(bytes, &position, quote: quote)
            case .declaration: consumeDeclaration(bytes, &position)
            case .comment: consumeComment(bytes, &position)
            case .section: consumeSection(bytes, &position)
            case .instruction: skip(bytes, &position, past: UInt8(ascii: ">"))
            case .documentType:
                if documentType.consume(bytes, &position) { state = .text }
            }
        }
    }

    /// Says that nothing follows: what was held is text.
    mutating func finish() {
        if case .reference = state { endReference(nil) }
        if state == .opening { append("&#60;") }
        output.removeSubrange((tagStart ?? output.count)...)
        tagStart = nil
    }

    // MARK: Text

    /// For each byte, whether it ends a run of text that is passed on as it is.
    private static let endsRun: [Bool] = (0..<256).map { byte in
        (byte < 0x20 && byte != 0x09 && byte != 0x0A && byte != 0x0D) || byte == 0x26 || byte == 0x3C
    }

    private mutating func consumeText(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) {
        let start = position
        Self.endsRun.withUnsafeBufferPointer { table in
            while position < bytes.count, !table[Int(bytes[position])] { position += 1 }
        }
        append(bytes, start..<position)
        guard position < bytes.count else { return }
        switch bytes[position] {
        case UInt8(ascii: "<"): state = .opening
        case UInt8(ascii: "&"): state = .reference(quote: nil)
        default: break
        }
        position += 1
    }

    private mutating func consumeOpening(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) {
        let byte = bytes[position]
        switch byte {
        case UInt8(ascii: "!"):
            state = .declaration
            held.removeAll(keepingCapacity: true)
        case UInt8(ascii: "?"): state = .instruction
        case UInt8(ascii: "/"), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x80...0xFF:
            tagStart = output.count
            output.append(UInt8(ascii: "<"))
            output.append(byte)
            equals = 0
            lastInTag = byte
            state = .tag
        default:
            append("&#60;")
            state = .text
            return
        }
        position += 1
    }

    // MARK: Tags

    private mutating func consumeTag(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) {
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: ">"):
                output.append(byte)
                position += 1
                state = .text
                return endTag()
            case UInt8(ascii: "<"):
                // The tag before was never closed. What was meant is anybody's guess; the new one is not lost with it.
                output.append(UInt8(ascii: ">"))
                state = .text
                return endTag()
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                output.append(byte)
                position += 1
                if lastInTag == UInt8(ascii: "=") {
                    lastInTag = byte
                    state = .value(quote: byte)
                    return
                }
                lastInTag = byte
            case 0x09, 0x0A, 0x0D, 0x20:
                output.append(0x20)
                position += 1
            case 0..<0x20: position += 1
            default:
                if byte == UInt8(ascii: "=") { equals += 1 }
                lastInTag = byte
                output.append(byte)
                position += 1
            }
        }
        limitTag()
    }

    private mutating func consumeValue(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int, quote: UInt8) {
        let start = position
        Self.endsRun.withUnsafeBufferPointer { table in
            while position < bytes.count, bytes[position] != quote, !table[Int(bytes[position])] { position += 1 }
        }
        append(bytes, start..<position)
        guard position < bytes.count else { return limitTag() }
        switch bytes[position] {
        case quote:
            output.append(quote)
            state = .tag
        case UInt8(ascii: "<"): append("&#60;")
        case UInt8(ascii: "&"): state = .reference(quote: quote)
        default: break
        }
        position += 1
        limitTag()
    }

    private mutating func limitTag() {
        guard let tagStart, output.count - tagStart > Self.greatestTag else { return }
        output.removeSubrange(tagStart...)
        self.tagStart = nil
        skippedTags += 1
        state = .skippedTag
    }

    private mutating func endTag() {
        guard let start = tagStart else { return }
        tagStart = nil
        guard equals <= XMLTag.greatestNumberOfAttributes else {
            output.removeSubrange(start...)
            skippedTags += 1
            return
        }
        nesting.place(tagAt: start, in: &output)
    }

    // MARK: References

    private mutating func consumeReference(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int, quote: UInt8?) {
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "#"):
                held.append(byte)
                position += 1
                if held.count > 20 { return endReference(quote) }
            case UInt8(ascii: ";"):
                if let scalar = held.withUnsafeBufferPointer(CharacterReference.scalar) {
                    append(scalar)
                } else if !documentType.hasSubset || held.isEmpty {
                    return endReference(quote)
                }
                position += 1
                held.removeAll(keepingCapacity: true)
                state = quote.map { .value(quote: $0) } ?? .text
                return
            default: return endReference(quote)
            }
        }
    }

    /// It was none: the ampersand is meant as such.
    private mutating func endReference(_ quote: UInt8?) {
        append("&#38;")
        output += held
        held.removeAll(keepingCapacity: true)
        state = quote.map { .value(quote: $0) } ?? .text
    }

    // MARK: What is left out

    private mutating func skip(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int, past byte: UInt8) {
        while position < bytes.count {
            position += 1
            if bytes[position - 1] == byte {
                state = .text
                return
            }
        }
    }

    private static let declarations = ["--", "[CDATA[", "DOCTYPE"].map { Array($0.utf8) }

    /// Tells comments, CDATA sections and DTDs apart by what comes after `<!`.
    private mutating func consumeDeclaration(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) {
        while position < bytes.count {
            held.append(bytes[position])
            position += 1
            endBytes = 0
            let isOpen = Self.declarations.contains { $0.starts(with: held) }
            if isOpen, held.count < 7, held != [0x2D, 0x2D] { continue }
            switch held.first {
            case UInt8(ascii: "-") where isOpen: state = .comment
            case UInt8(ascii: "[") where isOpen: state = .section
            case UInt8(ascii: "D") where isOpen:
                documentType = DocumentTypeSkipper()
                state = .documentType
            default:
                // No declaration that there is: skipped like a tag.
                state = held.last == UInt8(ascii: ">") ? .text : .skippedTag
            }
            return held.removeAll(keepingCapacity: true)
        }
    }

    private mutating func consumeComment(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) {
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: ">"), endBytes >= 2 {
                state = .text
                return
            }
            endBytes = byte == UInt8(ascii: "-") ? endBytes + 1 : 0
        }
    }

    /// CDATA comes out in small sections of whole characters; brackets, which may be the end, come out as text.
    private mutating func consumeSection(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) {
        if !held.isEmpty { completeHeldCharacter(bytes, &position) }
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "]") {
                endBytes += 1
                position += 1
                continue
            }
            if byte == UInt8(ascii: ">"), endBytes >= 2 {
                output.append(contentsOf: repeatElement(UInt8(ascii: "]"), count: endBytes - 2))
                endBytes = 0
                position += 1
                state = .text
                return
            }
            output.append(contentsOf: repeatElement(UInt8(ascii: "]"), count: endBytes))
            endBytes = 0
            let start = position
            let limit = min(bytes.count, start + Self.greatestSection)
            while position < limit, bytes[position] != UInt8(ascii: "]"),
                bytes[position] >= 0x20 || isSpace(bytes[position])
            {
                position += 1
            }
            let end = UTF8Sequence.endOfWholeCharacters(bytes, start..<position)
            if end > start {
                append("<![CDATA[")
                append(bytes, start..<end)
                append("]]>")
            }
            if end < position {
                // Within a character: the next section begins with it.
                guard position == bytes.count else {
                    position = end
                    continue
                }
                held += bytes[end...]
            } else if position == start {
                // A control character.
                position += 1
            }
        }
    }

    /// Takes the rest of a character whose beginning is held, and passes it on in a section of its own.
    private mutating func completeHeldCharacter(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) {
        while position < bytes.count, bytes[position] & 0xC0 == 0x80 {
            held.append(bytes[position])
            position += 1
        }
        if position == bytes.count, held.withUnsafeBufferPointer({ UTF8Sequence.read($0, at: 0) }) == .cut { return }
        append("<![CDATA[")
        output += held
        append("]]>")
        held.removeAll(keepingCapacity: true)
    }

    private func isSpace(_ byte: UInt8) -> Bool { byte == 0x09 || byte == 0x0A || byte == 0x0D }

    // MARK: Output

    private mutating func append(_ text: StaticString) {
        output.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
        if !range.isEmpty { output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[range])) }
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "<": append("&#60;")
        case ">": append("&#62;")
        case "&": append("&#38;")
        case "\"": append("&#34;")
        case "'": append("&#39;")
        default: output.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
    }
}
