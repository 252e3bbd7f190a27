import Foundation

/// A JSON value to be printed: keys keep their order, and what is unknown is an explicit null.
package indirect enum JSONDocument: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONDocument])
    case object([Member])

    package struct Member: Sendable, Equatable {
        package var key: String
        package var value: JSONDocument

        package init(key: String, value: JSONDocument) {
            self.key = key
            self.value = value
        }
    }
}

extension JSONDocument: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByStringLiteral {
    package init(stringLiteral value: String) {
        self = .string(value)
    }

    package init(dictionaryLiteral elements: (String, JSONDocument)...) {
        self = .object(elements.map { Member(key: $0.0, value: $0.1) })
    }

    package init(arrayLiteral elements: JSONDocument...) {
        self = .array(elements)
    }
}

extension JSONDocument {
    package init(_ value: String?) { self = value.map(JSONDocument.string) ?? .null }
    /// In English.
    package init(_ value: Message?) { self = value.map { .string($0.description) } ?? .null }
    package init(_ value: Int?) { self = value.map { .integer(Int64($0)) } ?? .null }
    package init(_ value: Int64?) { self = value.map(JSONDocument.integer) ?? .null }
    package init(_ value: Double?) { self = value.map(JSONDocument.number) ?? .null }
    package init(_ value: Bool?) { self = value.map(JSONDocument.bool) ?? .null }

    /// The name of an episode; null for one without.
    package static func name(_ name: String) -> JSONDocument { name.isEmpty ? .null : .string(name) }

    /// The members that say which episode a document is about.
    package static func naming(_ episode: EpisodeIdentity, section: Int, name: String) -> JSONDocument {
        [
            "source": .string(episode.book.source), "book_id": .string(episode.book.id), "id": .string(episode.key),
            "section": .init(section), "name": .name(name),
        ]
    }

    /// RFC 3339, in UTC, to the second.
    package init(_ value: Date?) {
        self = value.map { .string($0.formatted(.iso8601)) } ?? .null
    }

    /// The members of an object with more behind them.
    package func adding(_ more: JSONDocument) -> JSONDocument {
        guard case .object(let members) = self, case .object(let others) = more else { return self }
        return .object(members + others)
    }

    /// The members of an object behind the word for what was done.
    package func event(_ word: String) -> JSONDocument {
        (["event": .string(word)] as JSONDocument).adding(self)
    }

    /// As text: on one line, or indented by two spaces a level.
    package func text(isIndented: Bool = false) -> String {
        var text = ""
        write(to: &text, indentation: isIndented ? 0 : nil)
        return text
    }

    private func write(to text: inout String, indentation: Int?) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value): text += Self.numeral(value)
        case .string(let value): Self.write(value, to: &text)
        case .array(let values):
            Self.write(values, between: "[", "]", to: &text, indentation: indentation) { value, text, inner in
                value.write(to: &text, indentation: inner)
            }
        case .object(let members):
            Self.write(members, between: "{", "}", to: &text, indentation: indentation) { member, text, inner in
                Self.write(member.key, to: &text)
                text += inner == nil ? ":" : ": "
                member.value.write(to: &text, indentation: inner)
            }
        }
    }

    private static func write<Element>(
        _ elements: [Element], between opening: String, _ closing: String, to text: inout String, indentation: Int?,
        each: (Element, inout String, Int?) -> Void
    ) {
        text += opening
        let inner = indentation.map { $0 + 2 }
        for (index, element) in elements.enumerated() {
            if index > 0 { text += "," }
            if let inner { text += "\n" + String(repeating: " ", count: inner) }
            each(element, &text, inner)
        }
        if let indentation, !elements.isEmpty { text += "\n" + String(repeating: " ", count: indentation) }
        text += closing
    }

    private static func numeral(_ value: Double) -> String {
        guard value.isFinite else { return "null" }
        if let whole = Int64(exactly: value) { return String(whole) }
        return "\(value)"
    }

    /// Escapes what RFC 8259 §7 says must be, and what steers terminals, misleads readers or breaks lines of JavaScript.
    private static func write(_ string: String, to text: inout String) {
        text += "\""
        defer { text += "\"" }
        // As most are.
        let isPlain = string.utf8.allSatisfy {
            $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
        guard !isPlain else {
            text += string
            return
        }
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where mustBeEscaped(scalar):
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    package static func mustBeEscaped(_ scalar: Unicode.Scalar) -> Bool { scalar.isControl || scalar.isMisleading }
}
