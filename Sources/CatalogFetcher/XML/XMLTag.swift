/// A tag, put together from the byte behind its `<` on. Whatever is written there, it ends at a `>` outside of quotes, or at
/// a `<`, which begins the next one.
///
///     name      white space or `/` → between
///     between   anything a name may begin with → attribute; the rest is left out
///     attribute `=` → equals; white space → named; `/` → between (it has no value, and is left out)
///     named     `=` → equals; anything else → between, and once more
///     equals    a quote → quoted; anything else → bare
///     quoted    the same quote → between
///     bare      white space → between
///     `&` in a value → reference → the value again
struct XMLTag {
    static let maxLength = 1 << 20
    static let maxAttributes = 500

    enum Outcome {
        /// The bytes ended before the tag did.
        case open
        case ended
        /// It has more bytes or attributes than any that means well.
        case tooLong
    }

    private enum State {
        case name, between, attribute, named, equals, bare
        case quoted(UInt8)
        /// Nil for a value without quotes.
        case reference(quote: UInt8?)
    }

    typealias Attribute = (name: Range<Int>, value: Range<Int>)

    /// The name, and the names and values of the attributes.
    private(set) var bytes: [UInt8] = []
    private(set) var name = 0..<0
    private(set) var attributes: [Attribute] = []
    private(set) var isEnd = false
    /// Whether no end is to come: it is written so, or HTML's elements of that name have none.
    var isEmpty: Bool { last == UInt8(ascii: "/") || isVoid }

    private var state = State.name
    private var attributeName = 0..<0
    /// Before this one, outside of quoted values.
    private var last: UInt8 = 0
    private var reference = CharacterReference.Reader()

    /// - Parameter byte: behind the `<`.
    mutating func begin(with byte: UInt8) {
        bytes.removeAll(keepingCapacity: true)
        attributes.removeAll(keepingCapacity: true)
        isEnd = byte == UInt8(ascii: "/")
        last = 0
        state = .name
        if !isEnd { bytes.append(byte) }
    }

    /// - Parameters:
    ///   - position: is moved to behind the `>`, or to the `<` of the next tag.
    ///   - dropsUnknown: see ``CharacterReference/Reader``.
    mutating func consume(
        _ input: UnsafeBufferPointer<UInt8>, _ position: inout Int, dropsUnknown: Bool
    ) -> Outcome {
        while position < input.count {
            switch state {
            case .quoted(let quote): consumeValue(input, &position, quote)
            case .reference(let quote):
                guard let text = reference.consume(input, &position, dropsUnknown: dropsUnknown) else { return .open }
                bytes += text
                last = 0
                state = quote.map { .quoted($0) } ?? .bare
            default:
                let byte = input[position]
                if byte == UInt8(ascii: "<") {
                    // It was never closed. What was meant is anybody's guess; the new one is not lost with it.
                    end()
                    return .ended
                }
                position += 1
                if byte == UInt8(ascii: ">") {
                    end()
                    return .ended
                }
                if byte >= 0x20 || isSpace(byte) { step(byte) }
            }
            if bytes.count > Self.maxLength || attributes.count > Self.maxAttributes {
                return .tooLong
            }
        }
        return .open
    }

    private mutating func step(_ byte: UInt8) {
        switch state {
        case .name:
            guard isSpace(byte) || byte == UInt8(ascii: "/") else {
                bytes.append(byte)
                break
            }
            name = 0..<bytes.count
            state = .between
        case .between:
            let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte >= 0x80
            guard isLetter || byte == UInt8(ascii: "_") else { break }
            attributeName = bytes.count..<bytes.count
            bytes.append(byte)
            state = .attribute
        case .attribute:
            if byte == UInt8(ascii: "=") || isSpace(byte) {
                attributeName = attributeName.lowerBound..<bytes.count
                state = isSpace(byte) ? .named : .equals
            } else if byte == UInt8(ascii: "/") {
                dropAttribute()
            } else {
                bytes.append(byte)
            }
        case .named:
            if byte == UInt8(ascii: "=") {
                state = .equals
            } else if !isSpace(byte) {
                dropAttribute()
                return step(byte)
            }
        case .equals:
            if isSpace(byte) { break }
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                state = .quoted(byte)
            } else {
                state = .bare
                return step(byte)
            }
        case .bare:
            if isSpace(byte) {
                endAttribute()
            } else if byte == UInt8(ascii: "&") {
                state = .reference(quote: nil)
            } else {
                bytes.append(byte)
            }
        case .quoted, .reference: break
        }
        last = byte
    }

    private mutating func consumeValue(
        _ input: UnsafeBufferPointer<UInt8>, _ position: inout Int, _ quote: UInt8
    ) {
        let start = position
        while position < input.count, input[position] != quote, input[position] != UInt8(ascii: "&"),
            input[position] >= 0x20
        {
            position += 1
        }
        if position > start {
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: input[start..<position]))
            last = 0
        }
        guard position < input.count else { return }
        let byte = input[position]
        position += 1
        switch byte {
        case quote: endAttribute()
        case UInt8(ascii: "&"): state = .reference(quote: quote)
        case 0x0A where last == 0x0D: break
        // White space is a space (XML 1.0 §3.3.3); other control characters are left out.
        default: if isSpace(byte) { bytes.append(0x20) }
        }
        last = byte
    }

    private mutating func dropAttribute() {
        bytes.removeSubrange(attributeName.lowerBound...)
        state = .between
    }

    private mutating func endAttribute() {
        attributes.append((attributeName, attributeName.upperBound..<bytes.count))
        state = .between
    }

    private mutating func end() {
        switch state {
        case .name: name = 0..<bytes.count
        case .attribute, .named: dropAttribute()
        case .equals, .bare:
            // In `<a href=x/>` the slash ends the element.
            if last == UInt8(ascii: "/"), bytes.count > attributeName.upperBound { bytes.removeLast() }
            endAttribute()
        case .between, .quoted, .reference: break
        }
    }

    /// Of those that are found where text was not escaped.
    private var isVoid: Bool {
        let name = bytes[name]
        guard (2...3).contains(name.count) else { return false }
        return ["br", "hr", "img"].contains { $0.utf8.elementsEqual(name.lazy.map { $0 | 0x20 }) }
    }

    private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
}
