import Foundation

/// A name as search compares it: without case, diacritics, widths and punctuation, numbers without zeros in front.
///
/// It is a row of atoms: words of letters, numbers, and runs of characters of scripts that set no spaces between words.
/// Atoms that punctuation separates are divided by a space; those that meet directly (`第001集`) by ``tokenBoundary``.
package struct SearchText: Sendable, Hashable {
    /// UTF-8.
    package private(set) var bytes: [UInt8] = []

    static let space = UInt8(ascii: " ")
    /// Between atoms of different kinds that nothing separates.
    static let tokenBoundary: UInt8 = 0x01

    /// What a character is to search.
    enum Kind: UInt8 {
        case separator
        /// Of a script that puts spaces between its words.
        case letter
        case digit
        /// Of a script that does not, or a picture: each may begin a word.
        case glyph
        /// Leaves the word that it is in whole: `don't`.
        case nothing
    }

    package init(_ text: String) {
        bytes.reserveCapacity(text.utf8.count + 8)
        var last = Kind.separator
        if text.unicodeScalars.allSatisfy(Self.isPlain) {
            for scalar in text.unicodeScalars { append(scalar, &last) }
        } else {
            // Full-width letters, half-width kana, ligatures and decomposed letters become the usual ones.
            // Foundation leaves what it decomposed on the way in pieces, so that they are put together after it.
            let usual = text.precomposedStringWithCompatibilityMapping.precomposedStringWithCanonicalMapping
            for scalar in usual.unicodeScalars {
                if Self.isPlain(scalar) { append(scalar, &last) } else { appendFolded(scalar, &last) }
            }
        }
        if bytes.last == Self.space { bytes.removeLast() }
    }

    /// - Parameter bytes: as another text has them.
    init(folded bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
    }

    var isEmpty: Bool { bytes.isEmpty }

    // MARK: Folding

    /// Whether the scalar needs no table of Unicode: ASCII, Chinese, kana and Hangul syllables, and their punctuation.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x80, 0x3000...0x3029, 0x3041...0x3096, 0x30A1...0x30FF, 0x4E00...0x9FFF, 0xAC00...0xD7A3: true
        default: false
        }
    }

    private mutating func append(_ scalar: Unicode.Scalar, _ last: inout Kind) {
        switch scalar.value {
        case 0x30...0x39: append(byte: UInt8(scalar.value), .digit, &last)
        case 0x61...0x7A: append(byte: UInt8(scalar.value), .letter, &last)
        case 0x41...0x5A: append(byte: UInt8(scalar.value) | 0x20, .letter, &last)
        case 0x27: break
        case 0..<0x80: append(scalar, .separator, &last)
        // U+3005 and U+3007 stand for characters; what is around them is punctuation.
        case 0x3000...0x3004, 0x3006, 0x3008...0x3029: append(scalar, .separator, &last)
        default: append(scalar, .glyph, &last)
        }
    }

    private mutating func appendFolded(_ scalar: Unicode.Scalar, _ last: inout Kind) {
        if let letters = Self.foldings[scalar] {
            for letter in letters { append(byte: letter, .letter, &last) }
            return
        }
        switch Self.kind(of: scalar) {
        case .nothing: break
        case .digit:
            let value = scalar.properties.numericValue.map { UInt8($0) } ?? 0
            append(byte: 0x30 + value, .digit, &last)
        case .letter:
            for part in String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars
            where Self.kind(of: part) != .nothing {
                for lower in part.properties.lowercaseMapping.unicodeScalars where Self.kind(of: lower) == .letter {
                    append(lower, .letter, &last)
                }
            }
        case let kind: append(scalar, kind, &last)
        }
    }

    /// Letters that Unicode does not take apart, and that people type without what distinguishes them.
    private static let foldings: [Unicode.Scalar: [UInt8]] = [
        "ß": "ss", "ẞ": "ss", "æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe", "ø": "o", "Ø": "o", "ł": "l", "Ł": "l",
        "đ": "d", "Đ": "d", "ð": "d", "Ð": "d", "þ": "th", "Þ": "th", "ı": "i",
    ].mapValues { Array(($0 as String).utf8) }

    static func kind(of scalar: Unicode.Scalar) -> Kind {
        if isGlyph(scalar.value) { return .glyph }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber:
            return .letter
        case .decimalNumber: return .digit
        case .nonspacingMark, .enclosingMark, .format: return .nothing
        // Of Indic scripts: a vowel that belongs to its word.
        case .spacingMark: return .letter
        case .otherSymbol: return .glyph
        default: return scalar == "\u{2019}" || scalar == "\u{02BC}" ? .nothing : .separator
        }
    }

    /// Scripts that set no spaces: Chinese, kana, Thai, Lao, Khmer, Burmese; and Korean, whose words grow endings.
    private static func isGlyph(_ value: UInt32) -> Bool {
        switch value {
        case 0x0E01...0x0E3A, 0x0E40...0x0E4E, 0x0E80...0x0ECF, 0x0EDC...0x0EDF, 0x1000...0x103F, 0x1780...0x17D3,
            0x2E80...0x2FDF, 0x3005, 0x3007, 0x3041...0x3096, 0x3099...0x309A, 0x309D...0x309F, 0x30A1...0x30FA,
            0x30FC...0x30FF, 0x3105...0x312F, 0x3131...0x318E, 0x31F0...0x31FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
            0xA000...0xA48C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }

    // MARK: Building

    private mutating func append(_ scalar: Unicode.Scalar, _ kind: Kind, _ last: inout Kind) {
        begin(kind, &last)
        if kind != .separator { bytes.append(contentsOf: scalar.utf8) }
    }

    private mutating func append(byte: UInt8, _ kind: Kind, _ last: inout Kind) {
        // The zeros in front of a number go as soon as there is another digit behind them.
        if kind == .digit, last == .digit, bytes.last == 0x30, !endsInsideNumber {
            bytes[bytes.count - 1] = byte
            return
        }
        begin(kind, &last)
        bytes.append(byte)
    }

    /// Whether the last digit has another one before it.
    private var endsInsideNumber: Bool {
        bytes.count > 1 && (0x30...0x39).contains(bytes[bytes.count - 2])
    }

    private mutating func begin(_ kind: Kind, _ last: inout Kind) {
        defer { last = kind }
        guard last != kind else { return }
        if kind == .separator {
            if !bytes.isEmpty { bytes.append(Self.space) }
        } else if last != .separator {
            bytes.append(Self.tokenBoundary)
        }
    }
}

// MARK: - Atoms

extension SearchText {
    struct Atom {
        var bytes: ArraySlice<UInt8>
        var kind: Kind
    }

    /// In the order of the text.
    var atoms: [Atom] {
        bytes.split { $0 == Self.space || $0 == Self.tokenBoundary }.map {
            Atom(bytes: $0, kind: Self.kind(ofAtom: $0))
        }
    }

    /// The parts that punctuation separates.
    package var words: [SearchText] {
        bytes.split(separator: Self.space).map { SearchText(folded: $0) }
    }

    private static func kind(ofAtom bytes: ArraySlice<UInt8>) -> Kind {
        switch bytes[bytes.startIndex] {
        case 0x30...0x39: return .digit
        case 0x61...0x7A: return .letter
        default:
            let scalar = String(decoding: bytes.prefix(4), as: UTF8.self).unicodeScalars.first
            return scalar.map(kind(of:)) ?? .letter
        }
    }

    /// The text as the index holds it, atoms apart: words and numbers as they are, and of a run of glyphs each one with
    /// its successor, the last one alone. So any two neighbours are one token, and any glyph begins one.
    var indexed: String {
        var tokens: [UInt8] = []
        tokens.reserveCapacity(bytes.count * 3)
        for atom in atoms {
            guard atom.kind == .glyph else {
                tokens += atom.bytes
                tokens.append(Self.space)
                continue
            }
            var glyphs = Self.glyphs(atom.bytes)[...]
            while let first = glyphs.popFirst() {
                tokens += first
                if let second = glyphs.first { tokens += second }
                tokens.append(Self.space)
            }
        }
        return String(decoding: tokens, as: UTF8.self)
    }

    /// Each character of UTF-8 by itself.
    static func glyphs(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var glyphs: [ArraySlice<UInt8>] = []
        var start = bytes.startIndex
        while start < bytes.endIndex {
            var end = start + 1
            while end < bytes.endIndex, bytes[end] & 0xC0 == 0x80 { end += 1 }
            glyphs.append(bytes[start..<end])
            start = end
        }
        return glyphs
    }
}
