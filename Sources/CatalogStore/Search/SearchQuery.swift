import BookModel

/// What the user searches for: words that all must be found, each where its characters stand together.
///
/// A word of letters is found at the beginning of words, a number as a whole, and glyphs (Chinese and its like) anywhere.
package struct SearchQuery: Sendable {
    package let text: SearchText
    package let words: [SearchText]

    /// Tokens that are looked up in the index; the rest is held against the names themselves.
    private static let maxTokens = 32

    /// - Throws: ``Failure`` of kind `usage` when there is nothing in the text to search for.
    package init(_ text: String) throws {
        self.text = SearchText(text)
        var words: [SearchText] = []
        for word in self.text.words where !words.contains(word) { words.append(word) }
        self.words = words
        guard !words.isEmpty else {
            // Printed as it was typed, but for what would steer the terminal.
            let shown = String(
                String.UnicodeScalarView(
                    text.unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }))
            throw Failure(
                .usage, what: "'\(shown)' cannot be searched for", why: "it has neither letters nor digits in it",
                remedy: "write a part of a title, an author or an episode's name")
        }
    }

    // MARK: The names

    /// Whether every word is in one of the texts.
    package func matches(_ texts: [SearchText]) -> Bool {
        words.allSatisfy { word in texts.contains { $0.holds(word) } }
    }

    package func matches(_ text: SearchText) -> Bool { words.allSatisfy(text.holds) }

    /// How well a name fits that matches: 0 is the very name, 1 begins as asked for, 2 has it somewhere.
    package func distance(of name: SearchText) -> Int {
        if name == text { return 0 }
        return name.bytes.starts(with: text.bytes) ? 1 : 2
    }

    // MARK: The index

    /// The expression for FTS5 (https://sqlite.org/fts5.html#full_text_query_syntax) that finds at least all that
    /// match. Every token is quoted, and none holds a quote.
    var expression: String { Self.expression(for: words) }

    /// The expressions that find an episode by some of the words, one after the other, until there are enough: tokens as
    /// they are asked for come in the order of the rows as they are read, while their beginnings have to be gathered
    /// first, which takes a quarter of a second where there are a million.
    static func expressions(for words: [SearchText]) -> [String] {
        let whole = expression(for: words)
        let exact = whole.replacing("\"*", with: "\"")
        return exact == whole ? [whole] : [exact, whole]
    }

    static func expression(for words: [SearchText]) -> String {
        var tokens: [String] = []
        for word in words {
            for token in Self.tokens(of: word) where !tokens.contains(token) { tokens.append(token) }
        }
        return tokens.prefix(maxTokens).joined(separator: " AND ")
    }

    private static func tokens(of word: SearchText) -> [String] {
        let atoms = word.atoms
        var sure: [String] = []
        var loose: [String] = []
        for (index, atom) in atoms.enumerated() {
            let isLast = index == atoms.count - 1
            guard atom.kind == .glyph else {
                // Only what the user has not gone beyond may be a beginning.
                sure.append(quoted(atom.bytes) + (isLast && atom.kind == .letter ? "*" : ""))
                continue
            }
            let glyphs = SearchText.glyphs(atom.bytes)
            if glyphs.count > 1 {
                for (one, other) in zip(glyphs, glyphs.dropFirst()) { sure.append(quoted(one + other)) }
            } else if isLast {
                // A beginning of tokens: there are many of those, so they are only asked for where nothing else is.
                loose.append(quoted(glyphs[0]) + "*")
            } else {
                // What follows is of another kind, so it is the last one of its run.
                sure.append(quoted(glyphs[0]))
            }
        }
        return sure.isEmpty ? loose : sure
    }

    private static func quoted(_ token: ArraySlice<UInt8>) -> String {
        "\"\(String(decoding: token, as: UTF8.self))\""
    }
}

extension SearchText {
    /// Whether the word stands here: words of letters and numbers from their beginning on, numbers to their end.
    package func holds(_ word: SearchText) -> Bool {
        guard let first = word.bytes.first, word.bytes.count <= bytes.count else { return false }
        let atoms = word.atoms
        let beginsWord = atoms.first?.kind != .glyph
        let endsNumber = atoms.last?.kind == .digit
        let pattern = word.bytes
        return bytes.withUnsafeBufferPointer { text in
            pattern.withUnsafeBufferPointer { pattern in
                var start = 0
                while start + pattern.count <= text.count {
                    defer { start += 1 }
                    guard text[start] == first else { continue }
                    if beginsWord, start > 0, !Self.isBoundary(text[start - 1]) { continue }
                    let end = start + pattern.count
                    if endsNumber, end < text.count, !Self.isBoundary(text[end]) { continue }
                    if (1..<pattern.count).allSatisfy({ text[start + $0] == pattern[$0] }) { return true }
                }
                return false
            }
        }
    }

    private static func isBoundary(_ byte: UInt8) -> Bool { byte == space || byte == tokenBoundary }
}
