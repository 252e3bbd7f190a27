/// A line that is safe to print, and the colours of its parts.
package struct ColoredText: Equatable {
    private var parts: [(text: String, color: TerminalColor?)] = []

    init() {}

    /// - Parameter text: may hold anything; what would steer the terminal is taken out.
    package init(_ text: String, _ color: TerminalColor? = nil) { append(text, color) }

    /// - Parameter text: as for ``init(_:_:)``.
    package mutating func append(_ text: String, _ color: TerminalColor? = nil) {
        parts.append((DisplayWidth.printable(text), color))
    }

    /// Without colours.
    var text: String { parts.reduce(into: "") { $0 += $1.text } }

    /// As it is printed.
    func shown(usesColor: Bool) -> String {
        guard usesColor else { return text }
        return parts.reduce(into: "") { $0 += $1.color?.applied(to: $1.text) ?? $1.text }
    }

    mutating func removeSpacesAtEnd() {
        while var last = parts.popLast() {
            while last.text.last == " " { last.text.removeLast() }
            if !last.text.isEmpty { return parts.append(last) }
        }
    }

    package static func == (one: ColoredText, other: ColoredText) -> Bool {
        one.shown(usesColor: true) == other.shown(usesColor: true)
    }
}
