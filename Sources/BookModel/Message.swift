import Foundation

/// A text for the user that is in no language yet: an English wording, by which the table of another language finds its
/// own, and the parts that go into either.
///
/// Written as strings are: `"page \(number) of \(book) cannot be read"` has the wording "page {1} of {2} cannot be read".
package struct Message: Sendable, Hashable {
    /// What goes into the wording.
    private enum Part: Sendable, Hashable {
        /// The same in every language: a name, a number, a path, what the system or a server says.
        case text(String)
        case message(Message)
        case time(Date)
    }

    /// A part, and the English between it and the next one.
    private struct Step: Sendable, Hashable {
        var part: Part
        var literal = ""
    }

    private var beginning = ""
    private var steps: [Step] = []

    /// A text that is the same in every language.
    package init(verbatim text: String) { append(.text(text)) }

    /// A wording without parts that is not written out where it is used, such as the keyword of a state.
    package init(wording: String) { append(wording) }

    /// So many of something: "1 file", "2 files".
    /// - Parameter noun: one of them, in English; its plural ends in s.
    package init(_ count: Int, _ noun: String) {
        append(.text("\(count)"))
        append(count == 1 ? " \(noun)" : " \(noun)s")
    }

    private init() {}

    private mutating func append(_ part: Part) { steps.append(Step(part: part)) }

    private mutating func append(_ literal: String) {
        if steps.isEmpty { beginning += literal } else { steps[steps.count - 1].literal += literal }
    }

    /// English, with `{1}` where the first part goes.
    package var wording: String {
        steps.indices.reduce(beginning) { "\($0){\($1 + 1)}\(steps[$1].literal)" }
    }

    /// - Parameters:
    ///   - wordings: from English to another language, with the same parts in any order. What they lack stays English.
    ///   - zone: that times are shown in, to the minute; nil for RFC 3339 in UTC, as programs read them.
    package func text(by wordings: [String: String], in zone: TimeZone? = nil) -> String {
        let texts = steps.map { step in
            switch step.part {
            case .text(let text): text
            case .message(let message): message.text(by: wordings, in: zone)
            case .time(let time): zone.map { describeTime(time, in: $0) } ?? time.formatted(.iso8601)
            }
        }
        guard !wordings.isEmpty, let translated = wordings[wording] else {
            return zip(texts, steps).reduce(beginning) { $0 + $1.0 + $1.1.literal }
        }
        return closed(translated, around: texts, by: wordings).replacing(/\{([0-9]+)\}/) { match in
            Int(match.1).flatMap { texts.indices.contains($0 - 1) ? texts[$0 - 1] : nil } ?? String(match.0)
        }
    }

    /// A wording has a space between Chinese and a part, for what is Latin, and for names; a message that is Chinese itself
    /// needs none.
    private func closed(_ wording: String, around texts: [String], by wordings: [String: String]) -> String {
        var wording = wording
        for (index, step) in steps.enumerated() {
            guard case .message(let message) = step.part else { continue }
            let part = "{\(index + 1)}"
            if texts[index].unicodeScalars.first?.isChinese == true, !message.isName(at: .leading, by: wordings) {
                wording.close(" " + part, part) { $0.unicodeScalars.last?.isChinese == true }
            }
            if texts[index].unicodeScalars.last?.isChinese == true, !message.isName(at: .trailing, by: wordings) {
                wording.close(part + " ", part, isBefore: false) { $0.unicodeScalars.first?.isChinese == true }
            }
        }
        return wording
    }

    private enum Edge { case leading, trailing }

    /// Whether it begins, or ends, with a text that is the same in every language.
    private func isName(at edge: Edge, by wordings: [String: String]) -> Bool {
        let wording = wordings[wording] ?? wording
        let match = edge == .leading ? wording.firstMatch(of: /^\{([0-9]+)\}/) : wording.firstMatch(of: /\{([0-9]+)\}$/)
        guard let match, let number = Int(match.1), steps.indices.contains(number - 1) else { return false }
        return switch steps[number - 1].part {
        case .text: true
        case .time: false
        case .message(let message): message.isName(at: edge, by: wordings)
        }
    }

    /// Whether it is nothing but a text that is the same in every language.
    package var isVerbatim: Bool {
        guard beginning.isEmpty, steps.count == 1, case .text = steps[0].part else { return false }
        return steps[0].literal.isEmpty
    }

    /// Whether the wordings have its own and those of the messages in it.
    package func isTranslated(by wordings: [String: String]) -> Bool {
        // Whether it says anything itself, and is not only a list of others.
        let hasWords =
            steps.count == 1 || beginning.contains(where: \.isLetter)
            || steps.contains { $0.literal.contains(where: \.isLetter) }
        return (wordings[wording] != nil || !hasWords)
            && steps.allSatisfy { step in
                if case .message(let message) = step.part { message.isTranslated(by: wordings) } else { true }
            }
    }

    package static func + (first: Message, second: Message) -> Message {
        var sum = first
        sum.append(second.beginning)
        sum.steps += second.steps
        return sum
    }
}

/// As an array, so that it can be kept and said in any language later: the English before the first part, then each part and
/// the English behind it. A part is a string, an array that is a message, or seconds since 1970.
extension Message: Codable {
    package init(from decoder: any Decoder) throws {
        var array = try decoder.unkeyedContainer()
        beginning = try array.decode(String.self)
        while !array.isAtEnd {
            let part: Part
            if let text = try? array.decode(String.self) {
                part = .text(text)
            } else if let seconds = try? array.decode(Double.self) {
                part = .time(Date(clamping: seconds))
            } else {
                part = .message(try array.decode(Message.self))
            }
            steps.append(Step(part: part, literal: try array.decode(String.self)))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var array = encoder.unkeyedContainer()
        try array.encode(beginning)
        for step in steps {
            switch step.part {
            case .text(let text): try array.encode(text)
            case .message(let message): try array.encode(message)
            case .time(let time): try array.encode(time.timeIntervalSince1970)
            }
            try array.encode(step.literal)
        }
    }
}

extension Unicode.Scalar {
    /// A Chinese character, or a mark that is set among them.
    fileprivate var isChinese: Bool {
        (0x2E80...0x9FFF).contains(value) || (0xFF00...0xFF60).contains(value) || "“”".unicodeScalars.contains(self)
    }
}

extension String {
    /// Replaces the text where what stands before it, or behind it, is as wanted.
    fileprivate mutating func close(
        _ text: String, _ replacement: String, isBefore: Bool = true, where isWanted: (Substring) -> Bool
    ) {
        guard let range = firstRange(of: text),
            isWanted(isBefore ? self[..<range.lowerBound] : self[range.upperBound...])
        else { return }
        replaceSubrange(range, with: replacement)
    }
}

extension Sequence<Message> {
    package func joined(separator: Message) -> Message {
        var whole: Message?
        for message in self { whole = whole.map { "\($0)\(separator)\(message)" } ?? message }
        return whole ?? ""
    }
}

extension Message: CustomStringConvertible {
    /// In English, as programs read it.
    package var description: String { text(by: [:]) }
}

extension Message: ExpressibleByStringInterpolation {
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var message = Message()

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) { message.append(literal) }

        package mutating func appendInterpolation(_ part: Message) { message.append(.message(part)) }

        package mutating func appendInterpolation(_ time: Date) { message.append(.time(time)) }

        package mutating func appendInterpolation(_ part: Failure) { message.append(.message(part.message)) }

        package mutating func appendInterpolation(_ part: some CustomStringConvertible) {
            message.append(.text(part.description))
        }

        package mutating func appendInterpolation(_ part: any Error) { message.append(.message(Message(cause: part))) }
    }

    package init(stringLiteral literal: String) {
        self.init()
        append(literal)
    }

    package init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.message
    }
}
