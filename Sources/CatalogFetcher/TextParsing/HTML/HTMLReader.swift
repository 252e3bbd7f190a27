import BookModel
import CLibXML2

/// What is told of an HTML page while it is read.
package protocol HTMLHandler: AnyObject {
    /// - Parameters:
    ///   - name: in lower case.
    ///   - attributes: by their names in lower case, character references decoded.
    func open(_ name: String, attributes: [String: String])
    func close(_ name: String)
    /// A piece of text, character references decoded; one text may come in several pieces.
    func text(_ piece: UnsafeBufferPointer<UInt8>)
}

/// The face over libxml2's HTML parser: events instead of a tree, so that a page costs its own memory and no more.
///
/// Nothing is ever fetched. The parser forgives everything, and pages made to exhaust it are left where a limit is
/// reached: its lists of open elements and of a tag's attributes are searched one by one.
package struct HTMLReader {
    /// Open elements at a time.
    static let maxDepth = 200
    /// Attributes of one tag.
    static let maxAttributeCount = 100
    /// Bytes of one tag, and of anything else that the parser wants to see whole, such as a comment.
    static let maxTag = 64 << 10
    static let maxPiece = 1 << 20

    /// How the reading of a page ended.
    package enum Ending: Equatable {
        case end
        /// As the end of the sentence "reading was stopped where …".
        case stopped(Message)
    }

    /// Reads a page. Bytes that are no UTF-8 are each read as the Latin-1 character of that number; the handler then
    /// finds them as such (see ``isLatin1(_:)``). NUL bytes are read as spaces.
    package static func read(_ bytes: [UInt8], into handler: any HTMLHandler) -> Ending {
        let reading = Reading(handler)
        let text = isLatin1(bytes) ? latin1(bytes) : withoutNUL(bytes)
        return withExtendedLifetime(reading) { parse(text, reading) }
    }

    /// Whether the bytes are no UTF-8, so that they are read as Latin-1.
    package static func isLatin1(_ bytes: [UInt8]) -> Bool {
        String(validating: bytes, as: UTF8.self) == nil
    }

    private static func withoutNUL(_ bytes: [UInt8]) -> [UInt8] {
        bytes.contains(0) ? bytes.map { $0 == 0 ? 0x20 : $0 } : bytes
    }

    /// Each byte as the character of that number.
    package static func latin1(_ bytes: [UInt8]) -> [UInt8] {
        let scalars = withoutNUL(bytes).lazy.map { Unicode.Scalar($0) }
        return Array(String(String.UnicodeScalarView(scalars)).utf8)
    }

    private static func parse(_ text: [UInt8], _ reading: Reading) -> Ending {
        var callbacks = Self.callbacks
        let context = Unmanaged.passUnretained(reading).toOpaque()
        guard let parser = htmlCreatePushParserCtxt(&callbacks, context, nil, 0, nil, XML_CHAR_ENCODING_UTF8) else {
            return .stopped("there was no memory for it")
        }
        defer { htmlFreeParserCtxt(parser) }
        let options =
            HTML_PARSE_RECOVER.rawValue | HTML_PARSE_NOERROR.rawValue | HTML_PARSE_NOWARNING.rawValue
            | HTML_PARSE_NONET.rawValue | HTML_PARSE_IGNORE_ENC.rawValue | HTML_PARSE_NODEFDTD.rawValue
        htmlCtxtUseOptions(parser, CInt(options))
        // Else the first character beyond ASCII would make it guess.
        parser.pointee.charset = CInt(XML_CHAR_ENCODING_UTF8.rawValue)
        text.withUnsafeBytes { buffer in
            let characters = buffer.bindMemory(to: CChar.self)
            var position = 0
            while position < characters.count, reading.trouble == nil {
                // libxml2 2.9.14 forgets between two pieces whether it is within quotes, and then looks past the end of
                // the tag for ever: it has to look at the tag anew, which its greatest length keeps cheap.
                if isWithinTag(parser) { parser.pointee.checkIndex = 0 }
                let length = min(pieceLength, characters.count - position)
                let chunk = UnsafeBufferPointer(rebasing: characters[position..<(position + length)])
                htmlParseChunk(parser, chunk.baseAddress, CInt(length), 0)
                position += length
                if let input = parser.pointee.input, let end = input.pointee.end, let current = input.pointee.cur {
                    if end - current > (isWithinTag(parser) ? maxTag : maxPiece) {
                        reading.trouble = "a tag, a comment or a script is too long"
                    }
                }
            }
        }
        // What is left unread would be searched through in full.
        if reading.trouble == nil { htmlParseChunk(parser, nil, 0, 1) }
        return reading.trouble.map { .stopped($0) } ?? .end
    }

    /// Bytes that the parser is given at a time.
    private static let pieceLength = 16 << 10

    /// Whether the parser waits for the end of a tag.
    private static func isWithinTag(_ parser: htmlParserCtxtPtr) -> Bool {
        parser.pointee.instate == XML_PARSER_START_TAG || parser.pointee.instate == XML_PARSER_END_TAG
    }

    private static var callbacks: htmlSAXHandler {
        var callbacks = htmlSAXHandler()
        callbacks.startElement = { context, name, attributes in
            guard let context, let name else { return }
            Unmanaged<Reading>.fromOpaque(context).takeUnretainedValue().open(name, attributes)
        }
        callbacks.endElement = { context, name in
            guard let context, let name else { return }
            Unmanaged<Reading>.fromOpaque(context).takeUnretainedValue().close(name)
        }
        let text: charactersSAXFunc = { context, piece, length in
            guard let context, let piece, length > 0 else { return }
            let bytes = UnsafeBufferPointer(start: piece, count: Int(length))
            Unmanaged<Reading>.fromOpaque(context).takeUnretainedValue().text(bytes)
        }
        callbacks.characters = text
        callbacks.ignorableWhitespace = text
        callbacks.cdataBlock = text
        return callbacks
    }

    /// What the parser's callbacks reach through its user pointer.
    private final class Reading {
        private let handler: any HTMLHandler
        private var depth = 0
        /// Why nothing more is to be read.
        var trouble: Message?

        init(_ handler: any HTMLHandler) {
            self.handler = handler
        }

        func open(_ name: UnsafePointer<xmlChar>, _ list: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?) {
            guard trouble == nil else { return }
            depth += 1
            var attributes: [String: String] = [:]
            var index = 0
            while let name = list?[index] {
                if index >= 2 * HTMLReader.maxAttributeCount {
                    trouble = "a tag has more than \(HTMLReader.maxAttributeCount) attributes"
                    return
                }
                attributes[String(cString: name).lowercased()] = list?[index + 1].map { String(cString: $0) } ?? ""
                index += 2
            }
            if depth > HTMLReader.maxDepth {
                trouble = "elements are nested more than \(HTMLReader.maxDepth) deep"
                return
            }
            handler.open(String(cString: name).lowercased(), attributes: attributes)
        }

        func close(_ name: UnsafePointer<xmlChar>) {
            guard trouble == nil else { return }
            depth -= 1
            handler.close(String(cString: name).lowercased())
        }

        func text(_ piece: UnsafeBufferPointer<UInt8>) {
            if trouble == nil { handler.text(piece) }
        }
    }
}
