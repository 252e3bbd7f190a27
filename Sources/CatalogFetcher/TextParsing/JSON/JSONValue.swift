/// Reads JSON documents from bytes.
package enum JSONReader {
    /// Real catalogs nest four levels; more than this is an attack or a defect.
    static let maxDepth = 512

    /// Proves the whole document well-formed (RFC 8259, UTF-8, an initial byte order mark allowed) and returns a view
    /// of its value.
    package static func read(_ bytes: [UInt8]) throws(JSONFailure) -> JSONValue {
        let outcome = bytes.withUnsafeBufferPointer { buffer -> Result<Range<Int>, JSONFailure> in
            var scanner = JSONScanner(buffer, from: buffer.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
            do throws(JSONFailure) {
                return .success(try scanner.scanDocument())
            } catch {
                return .failure(error)
            }
        }
        return JSONValue(bytes: bytes, range: try outcome.get())
    }
}

/// A value within a well-formed JSON document: a view of its bytes that is read on demand.
///
/// Nothing is built beside the bytes, so that a page of any size costs its own memory once. Looking a member up walks
/// its object once; whoever wants many members walks ``members`` instead.
package struct JSONValue: Sendable {
    package enum Kind: Sendable {
        case null, boolean, number, string, array, object
    }

    fileprivate let bytes: [UInt8]
    /// Where the value stands in the document.
    package let range: Range<Int>

    package var kind: Kind {
        switch bytes[range.lowerBound] {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
        case UInt8(ascii: "n"): .null
        default: .number
        }
    }

    /// The content of a string, unescaped; nil for every other kind. Half a surrogate pair becomes U+FFFD.
    package var string: String? {
        guard kind == .string else { return nil }
        return bytes.withUnsafeBufferPointer {
            JSONString.content(UnsafeBufferPointer(rebasing: $0[(range.lowerBound + 1)..<(range.upperBound - 1)]))
        }
    }

    /// A string's content or a number as written; nil for every other kind.
    package var text: String? {
        switch kind {
        case .string: string
        case .number: source
        case .null, .boolean, .array, .object: nil
        }
    }

    /// A whole number, from a number or from a string that holds one: `12`, `12.0`, `1e3`, `"12"`. Exact over all of
    /// Int64; nil when there is no such number.
    package var integer: Int64? { text.flatMap { JSONNumber.integer(parsing: $0) } }

    /// A finite number, from a number or from a string that holds one.
    package var double: Double? { text.flatMap { JSONNumber.double(parsing: $0) } }

    package var isNull: Bool { kind == .null }

    /// The value as it was sent.
    package var source: String {
        bytes.withUnsafeBufferPointer { String(decoding: $0[range], as: UTF8.self) }
    }

    /// Calls `body` with the bytes of the value as they were sent.
    package func withSourceBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[range])) }
    }

    /// The elements of an array; nothing for every other kind.
    package var elements: JSONElements { JSONElements(of: self) }

    /// The members of an object in their order, duplicates included; nothing for every other kind.
    package var members: JSONMembers { JSONMembers(of: self) }

    /// The member of that name, of several the last; nil also for what is no object.
    package subscript(name: String) -> JSONValue? {
        var found: JSONValue?
        for (key, value) in members where key == name { found = value }
        return found
    }

    /// The value that begins behind white space at `position`, or nil at the end of this container.
    fileprivate func child(at position: Int) -> JSONValue? {
        let limit = range.upperBound - 1
        guard position < limit else { return nil }
        let found = bytes.withUnsafeBufferPointer { bytes -> Range<Int> in
            let start = JSONBytes.skipWhitespace(bytes, from: position, within: limit)
            return start..<JSONBytes.endOfValue(bytes, from: start, within: limit)
        }
        return found.isEmpty ? nil : JSONValue(bytes: bytes, range: found)
    }

    /// Steps over white space and one separator.
    fileprivate func positionAfterSeparator(from position: Int) -> Int {
        let limit = range.upperBound - 1
        let separator = bytes.withUnsafeBufferPointer { JSONBytes.skipWhitespace($0, from: position, within: limit) }
        return min(separator + 1, limit)
    }
}

package struct JSONElements: Sequence, IteratorProtocol {
    private let array: JSONValue
    private var position: Int

    init(of array: JSONValue) {
        self.array = array
        self.position = array.kind == .array ? array.range.lowerBound + 1 : array.range.upperBound
    }

    package mutating func next() -> JSONValue? {
        guard let element = array.child(at: position) else { return nil }
        position = array.positionAfterSeparator(from: element.range.upperBound)
        return element
    }
}

package struct JSONMembers: Sequence, IteratorProtocol {
    private let object: JSONValue
    private var position: Int

    init(of object: JSONValue) {
        self.object = object
        self.position = object.kind == .object ? object.range.lowerBound + 1 : object.range.upperBound
    }

    package mutating func next() -> (key: String, value: JSONValue)? {
        guard let key = object.child(at: position), let name = key.string,
            let value = object.child(at: object.positionAfterSeparator(from: key.range.upperBound))
        else { return nil }
        position = object.positionAfterSeparator(from: value.range.upperBound)
        return (name, value)
    }
}
