import BookModel

/// The colours of words that say how something is: what failed is red, what is new green, what waits for the user yellow, and
/// what nothing will be done about faint.
package enum TerminalColor: Int {
    case faint = 2
    case red = 31
    case green, yellow

    /// - Parameter text: holds nothing that steers a terminal.
    func applied(to text: String) -> String {
        // Spaces that fill a column have no colour, lest a terminal underline them.
        let word = text.drop { $0 == " " }
        guard let end = word.lastIndex(where: { $0 != " " }) else { return text }
        return text.prefix(text.count - word.count) + "\u{1B}[\(rawValue)m\(word[...end])\u{1B}[0m"
            + word[word.index(after: end)...]
    }

    /// The color of a cell by the word in it; of equal words the first counts.
    static func ofWords(_ words: [(String, TerminalColor?)]) -> @Sendable (String) -> TerminalColor? {
        let colors = Dictionary(words) { first, _ in first }
        return { colors[$0] ?? nil }
    }

    /// - Parameter line: as for ``applied(to:)``.
    func applied(toFirstWordOf line: String) -> String {
        let first = line.prefix { $0 != " " }
        let word = first.firstIndex(of: "：").map { first[...$0] } ?? first
        return applied(to: String(word)) + line.dropFirst(word.count)
    }
}

extension EpisodeState {
    var color: TerminalColor? {
        switch self {
        case .failed: .red
        case .downloading: .green
        case .paused, .cancelled: .yellow
        case .locked, .removed, .gone: .faint
        case .waiting, .finished: nil
        }
    }

    /// The colours of the states' words in a table.
    package static func colors(in words: Wordings) -> @Sendable (String) -> TerminalColor? {
        TerminalColor.ofWords(allCases.map { (words(Message(wording: $0.rawValue)), $0.color) })
    }
}

extension SyncAction.Kind {
    package var color: TerminalColor? {
        switch self {
        case .fetch, .resume, .replace: .green
        case .expire, .skip(.waits), .skip(.paused), .skip(.obstructed), .skip(.truncated): .yellow
        case .skip: .faint
        case .rename, .adopt, .keep: nil
        }
    }
}

extension SyncEvent {
    /// Of the first word of its sentence.
    package var color: TerminalColor? {
        switch self {
        case .failed: .red
        case .finished, .adopted: .green
        case .paused, .cancelled: .yellow
        default: nil
        }
    }
}
