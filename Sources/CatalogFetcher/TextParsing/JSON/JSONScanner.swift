import BookModel

/// Why bytes are not JSON: what was expected at which byte.
package struct JSONFailure: ExplainedError, Equatable, CustomStringConvertible {
    /// Counted from 0, a byte order mark included.
    package let offset: Int
    /// As the end of the sentence "expected …".
    let expected: String

    package var description: String { "expected \(expected) at byte \(offset)" }

    package var message: Message { Message(wording: description) }
}

/// One strict pass over JSON text (RFC 8259), which proves it well-formed and keeps nothing.
///
/// After it every ``JSONValue`` may walk the same bytes without checks of its own. There is no recursion: nesting
/// costs one `Bool` per level, and hostile depth ends at ``JSONReader/maxDepth``.
struct JSONScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let count: Int
    private var position: Int

    init(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) {
        self.bytes = bytes
        self.count = bytes.count
        self.position = start
    }

    /// - Returns: where the document's value stands.
    mutating func scanDocument() throws(JSONFailure) -> Range<Int> {
        skipWhitespace()
        let start = position
        /// Of each open container, whether it is an object.
        var open: [Bool] = []
        while true {
            let isComplete = try scanValueOrOpen(&open)
            if isComplete, try !finishContainers(&open) { break }
        }
        let end = position
        skipWhitespace()
        guard position == count else { throw expected("the end of the document") }
        return start..<end
    }

    /// Scans a scalar or an empty container whole, or opens a container and scans up to its first value.
    /// - Returns: whether a value ended here.
    private mutating func scanValueOrOpen(_ open: inout [Bool]) throws(JSONFailure) -> Bool {
        skipWhitespace()
        guard position < count else { throw expected("a value") }
        switch bytes[position] {
        case UInt8(ascii: "{"):
            try enter(&open, isObject: true)
            if take(UInt8(ascii: "}")) {
                open.removeLast()
                return true
            }
            try scanKey(or: " or '}'")
            return false
        case UInt8(ascii: "["):
            try enter(&open, isObject: false)
            guard take(UInt8(ascii: "]")) else { return false }
            open.removeLast()
            return true
        case UInt8(ascii: "\""): try scanString()
        case UInt8(ascii: "t"): try scanWord("true")
        case UInt8(ascii: "f"): try scanWord("false")
        case UInt8(ascii: "n"): try scanWord("null")
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try scanNumber()
        default: throw expected("a value")
        }
        return true
    }

    /// After a value: closes the containers that end here, and steps over the comma to the next value.
    /// - Returns: whether there is a next value.
    private mutating func finishContainers(_ open: inout [Bool]) throws(JSONFailure) -> Bool {
        while let isObject = open.last {
            skipWhitespace()
            if take(UInt8(ascii: ",")) {
                if isObject { try scanKey(or: "") }
                return true
            }
            guard take(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                throw expected(isObject ? "',' or '}' after a member" : "',' or ']' after an element")
            }
            open.removeLast()
        }
        return false
    }

    private mutating func enter(_ open: inout [Bool], isObject: Bool) throws(JSONFailure) {
        guard open.count < JSONReader.maxDepth else {
            throw expected("no more than \(JSONReader.maxDepth) levels of nesting")
        }
        open.append(isObject)
        position += 1
        skipWhitespace()
    }

    private mutating func scanKey(or alternative: String) throws(JSONFailure) {
        skipWhitespace()
        guard position < count, bytes[position] == UInt8(ascii: "\"") else {
            throw expected("a member's name in quotes" + alternative)
        }
        try scanString()
        skipWhitespace()
        guard take(UInt8(ascii: ":")) else { throw expected("':' after a member's name") }
    }

    private mutating func scanWord(_ word: StaticString) throws(JSONFailure) {
        for index in 0..<word.utf8CodeUnitCount {
            guard position < count, bytes[position] == word.utf8Start[index] else { throw expected("'\(word)'") }
            position += 1
        }
    }

    private mutating func scanNumber() throws(JSONFailure) {
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try scanDigits() }
        if take(UInt8(ascii: ".")) { try scanDigits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try scanDigits()
        }
    }

    private mutating func scanDigits() throws(JSONFailure) {
        let start = position
        while position < count, bytes[position].isDigit { position += 1 }
        guard position > start else { throw expected("a digit") }
    }

    private mutating func scanString() throws(JSONFailure) {
        position += 1
        while true {
            position = JSONBytes.endOfPlainText(bytes, from: position, within: count)
            guard position < count else { throw expected("the quote that ends a string") }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"): try scanEscape()
            case ..<0x20: throw expected("an escape in place of a control character")
            case ..<0x80: position += 1
            default: try scanMultibyteScalar()
            }
        }
    }

    private mutating func scanEscape() throws(JSONFailure) {
        position += 1
        guard position < count else { throw expected("an escaped character") }
        switch bytes[position] {
        case UInt8(ascii: "u"):
            position += 1
            for _ in 0..<4 {
                guard position < count, bytes[position].hexadecimalValue != nil else {
                    throw expected("four hexadecimal digits after \\u")
                }
                position += 1
            }
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        default: throw expected("one of \"\\/bfnrtu after a backslash")
        }
    }

    /// The well-formed sequences of the Unicode Standard, table 3-7.
    private mutating func scanMultibyteScalar() throws(JSONFailure) {
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch bytes[position] {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        case 0xF1...0xF3: length = 4
        default: throw expected("UTF-8 text")
        }
        guard position + length <= count, second.contains(bytes[position + 1]) else { throw expected("UTF-8 text") }
        for index in 2..<max(length, 2) where bytes[position + index] & 0xC0 != 0x80 { throw expected("UTF-8 text") }
        position += length
    }

    private mutating func skipWhitespace() {
        position = JSONBytes.skipWhitespace(bytes, from: position, within: count)
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private func expected(_ what: String) -> JSONFailure { JSONFailure(offset: position, expected: what) }
}
