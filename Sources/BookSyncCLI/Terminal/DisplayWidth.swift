import BookModel

/// How many columns of a terminal a text takes, and how to make it take no more than there are.
///
/// Terminals disagree about emoji sequences and about the scripts of India; where they do, the width is that of the
/// newer ones, so that a line may come out shorter than counted and hardly ever longer.
package enum DisplayWidth {
    /// Columns of the text as ``printable(_:)`` makes it.
    package static func columns(of text: String) -> Int {
        if let simple = simpleColumns(of: text) { return simple }
        return printable(text).reduce(0) { $0 + columns(of: $1) }
    }

    /// The text without anything that would move the cursor or turn the direction of what follows on the line:
    /// tabs and line ends become spaces, other control characters U+FFFD, and what misleads vanishes.
    package static func printable(_ text: String) -> String {
        guard !isPlain(text), text.unicodeScalars.contains(where: { $0.isControl || $0.isMisleading }) else {
            return text
        }
        var result = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            defer { previous = scalar }
            switch scalar {
            case "\n" where previous == "\r": continue
            case "\t", "\n", "\r", "\u{2028}", "\u{2029}", "\u{85}": result.append(" ")
            case _ where scalar.isMisleading: continue
            case _ where scalar.isControl || scalar.isMisleading: result.append("\u{FFFD}")
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    /// The same of a text of several lines, which it keeps.
    static func printableLines(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0 != "\n" && ($0.isControl || $0.isMisleading) }) else {
            return text
        }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { printable(String($0)) }
            .joined(separator: "\n")
    }

    /// The beginning of the text with `…` where it was cut, in at most `limit` columns; never half a grapheme.
    static func truncate(_ text: String, to limit: Int) -> String { cut(text, to: limit).text }

    /// The text in exactly `columns` columns: cut, or filled up with spaces.
    package static func fit(_ text: String, to columns: Int, alignment: TextTable.Alignment = .leading) -> String {
        let cut = cut(text, to: columns)
        let filling = String(repeating: " ", count: max(0, columns - cut.columns))
        return alignment == .leading ? cut.text + filling : filling + cut.text
    }

    /// What stands in a terminal of so many columns: lines that are too long are broken between words, behind their own
    /// indentation. A word that is longer than a line stays whole, so that it can be copied; nil breaks nothing.
    static func sentences(_ text: String, to columns: Int?) -> String {
        guard let columns else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let margin = line.prefix { $0 == " " }
            guard self.columns(of: String(line)) > columns, margin.count < columns / 2 else { return String(line) }
            return wrapped(String(line), to: columns - margin.count, breaksWords: false).map { margin + $0 }
                .joined(separator: "\n")
        }.joined(separator: "\n")
    }

    /// The text in lines of at most `limit` columns: broken between words and beside wide characters, and within a word that
    /// is longer than a line.
    package static func wrapped(_ text: String, to limit: Int, breaksWords: Bool = true) -> [String] {
        // Half of a wide character cannot be shown.
        guard limit > 1 else { return text.isEmpty ? [] : [truncate(text, to: limit)] }
        var lines: [String] = []
        var line = ""
        var width = 0
        func end() {
            lines.append(line)
            (line, width) = ("", 0)
        }
        var spaces = 0
        for word in printable(text).split(separator: " ", omittingEmptySubsequences: false) {
            for piece in pieces(of: word) {
                if width > 0, width + spaces + columns(of: piece) > limit {
                    end()
                } else if width > 0 {
                    line += String(repeating: " ", count: spaces)
                    width += spaces
                }
                spaces = 0
                for character in piece {
                    let columns = columns(of: character)
                    if width + columns > limit {
                        // The terminal itself goes on in the next row.
                        if breaksWords { end() } else { width = 0 }
                    }
                    line.append(character)
                    width += columns
                }
            }
            spaces += 1
        }
        return line.isEmpty ? lines : lines + [line]
    }

    /// Marks that no line begins with, and those that none ends with.
    private static let (closing, opening) = (Set("，。、；：？！）》」』”’…—％"), Set("（《「『“‘"))

    /// What of a word stays on one line: a wide character for itself, with the marks that belong to it; others together.
    private static func pieces(of word: Substring) -> [String] {
        var pieces: [String] = []
        for character in word {
            guard let last = pieces.last?.last else {
                pieces.append(String(character))
                continue
            }
            let isApart = columns(of: character) > 1 || columns(of: last) > 1
            if closing.contains(character) || opening.contains(last) || !isApart {
                pieces[pieces.count - 1].append(character)
            } else {
                pieces.append(String(character))
            }
        }
        return pieces
    }

    private static func cut(_ text: String, to limit: Int) -> (text: String, columns: Int) {
        guard limit > 0 else { return ("", 0) }
        // A list may have a hundred thousand lines: each text is measured once.
        if let simple = simpleColumns(of: text), simple <= limit { return (text, simple) }
        let text = printable(text)
        let whole = columns(of: text)
        guard whole > limit else { return (text, whole) }
        var kept = ""
        var width = 0
        for character in text {
            let columns = columns(of: character)
            guard width + columns <= limit - 1 else { break }
            kept.append(character)
            width += columns
        }
        return (kept + "…", width + 1)
    }

    // MARK: - Graphemes

    /// - Precondition: it came through ``printable(_:)``.
    static func columns(of character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        if first.properties.isEmojiPresentation { return 2 }
        // U+FE0F asks for the picture, U+200D joins several to one.
        if first.properties.isEmoji, scalars.contains(where: { $0 == "\u{FE0F}" || $0 == "\u{200D}" }) { return 2 }
        return scalars.reduce(0) { $0 + columns(of: $1) }
    }

    private static func columns(of scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0x20..<0x7F, 0xAD: return 1
        // The vowels and finals that join a leading consonant to one syllable.
        case 0x1160...0x11FF, 0xD7B0...0xD7FB: return 0
        default: break
        }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        if wide.contains(where: { $0.contains(scalar.value) }) || scalar.properties.isEmojiPresentation { return 2 }
        return scalar.properties.isDefaultIgnorableCodePoint ? 0 : 1
    }

    /// East Asian Width W and F (Unicode 14, UAX #11) without what has emoji presentation.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4C6,
        0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAD9, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60,
        0xFFE0...0xFFE6, 0x16FE0...0x18D08, 0x1AFF0...0x1B2FB, 0x1F200...0x1F265, 0x20000...0x3FFFD,
    ]

    /// Whether it is printable ASCII, of which each byte is a column.
    static func isPlain(_ text: String) -> Bool {
        func isPlain(_ byte: UInt8) -> Bool { byte >= 0x20 && byte < 0x7F }
        return text.utf8.withContiguousStorageIfAvailable { $0.allSatisfy(isPlain) } ?? text.utf8.allSatisfy(isPlain)
    }

    /// Most names hold only ASCII, Chinese, kana and Hangul syllables, none of which joins with its neighbours: no
    /// graphemes need to be found in them. nil when there is anything else.
    private static func simpleColumns(of text: String) -> Int? {
        if isPlain(text) { return text.utf8.count }
        var columns = 0
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x20..<0x7F: columns += 1
            case 0x3001...0x3029, 0x3041...0x3096, 0x30A0...0x30FF, 0x4E00...0x9FFF, 0xAC00...0xD7A3, 0xFF01...0xFF60:
                columns += 2
            default: return nil
            }
        }
        return columns
    }
}
