import Foundation

/// Makes text from a catalog fit to be one component of a path on any filesystem a shelf is copied to (ext4, APFS,
/// exFAT, NTFS, SMB), changing as little as can be seen:
///
/// - what cannot be seen goes: control characters, direction marks, zero-width characters, byte order marks. Joiners
///   stay where they make one glyph of several: between emoji, and in the scripts that need them;
/// - what a filesystem forbids (`/ \ : * ? " < > |`) becomes its full-width twin, which reads the same;
/// - every run of white space becomes one space;
/// - the rest is in normalisation form C.
package enum SafeName {
    /// Bytes of UTF-8 that a component may have. Filesystems allow 255; the rest is for the suffix of a temporary name.
    package static let byteLimit = 240

    /// Text to be put into a component: visible, on one line, without forbidden characters.
    /// - Parameter trimmed: whether space at either end goes.
    package static func text(_ raw: String, trimmed: Bool = true) -> String {
        if isPlain(raw) { return raw }
        let visible = keepVisible(Array(raw.unicodeScalars))
        var result = String.UnicodeScalarView()
        for scalar in String(visible).precomposedStringWithCanonicalMapping.unicodeScalars {
            if scalar == " " {
                if result.last == " " || (trimmed && result.isEmpty) { continue }
                result.append(scalar)
            } else {
                result.append(fullWidth[scalar] ?? scalar)
            }
        }
        if trimmed, result.last == " " { result.removeLast() }
        return String(result)
    }

    /// A whole component out of text that went through ``text(_:)``: never hidden, never one that Windows trims or
    /// takes for a device.
    /// - Returns: an empty string when nothing is left.
    package static func component(_ text: String) -> String {
        var scalars = text.unicodeScalars[...]
        while let first = scalars.first, first == "." || first == " " { scalars.removeFirst() }
        while let last = scalars.last, last == "." || last == " " { scalars.removeLast() }
        // Text that meets in a component may compose where it meets.
        let kept = String(scalars)
        let name = isNormalized(kept) ? kept : kept.precomposedStringWithCanonicalMapping
        let base = String(name.unicodeScalars.prefix { $0 != "." })
        guard base.utf8.count <= 8, devices.contains(base.trimmingCharacters(in: .whitespaces).uppercased()) else {
            return name
        }
        return base + "_" + name.dropFirst(base.count)
    }

    /// What two names must differ in to be two names on a filesystem that ignores case and normalises.
    package static func comparisonKey(_ path: String) -> ComparisonKey {
        if path.utf8.allSatisfy({ $0 < 0x80 }) { return ComparisonKey(text: path.lowercased()) }
        if isNormalized(path) { return ComparisonKey(text: withLowercaseASCII(path)) }
        // Upper case first, so that ß and SS, ſ and S, ς and σ meet: rather one suffix too many than a lost file.
        return ComparisonKey(text: path.uppercased().lowercased().precomposedStringWithCanonicalMapping)
    }

    /// A normalised path: its bytes tell it from others, which is found out much faster than by its characters.
    package struct ComparisonKey: Hashable {
        fileprivate let text: String

        package static func == (one: ComparisonKey, other: ComparisonKey) -> Bool {
            one.text.utf8.elementsEqual(other.text.utf8)
        }

        package func hash(into hasher: inout Hasher) {
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    /// The longest beginning of whole grapheme clusters within so many bytes of UTF-8, without trailing space.
    package static func cut(_ text: String, toBytes limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var room = limit
        let kept = text.prefix { character in
            room -= character.utf8.count
            return room >= 0
        }
        return kept.last == " " ? String(kept.dropLast()) : String(kept)
    }

    /// Whether normalisation and letter case leave everything beyond ASCII as it is, wherever it stands: Chinese, kana
    /// and Hangul syllables, of which most names are made. Asking the tables of Unicode took most of a run with nothing
    /// to do.
    private static func isNormalized(_ text: String) -> Bool { text.unicodeScalars.allSatisfy(isNormalized) }

    private static func isNormalized(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20..<0x7F, 0x3001...0x3029, 0x3041...0x3096, 0x30A1...0x30FA, 0x4E00...0x9FFF, 0xAC00...0xD7A3: true
        default: false
        }
    }

    /// Whether ``text(_:trimmed:)`` has nothing to change.
    private static func isPlain(_ text: String) -> Bool {
        var previous: Unicode.Scalar = " "
        for scalar in text.unicodeScalars {
            guard isNormalized(scalar), !(scalar == " " && previous == " "), !scalar.isASCII || fullWidth[scalar] == nil
            else { return false }
            previous = scalar
        }
        return previous != " "
    }

    private static func withLowercaseASCII(_ text: String) -> String {
        String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    private static let fullWidth: [Unicode.Scalar: Unicode.Scalar] = [
        "/": "／", "\\": "＼", ":": "：", "*": "＊", "?": "？", "\"": "＂", "<": "＜", ">": "＞", "|": "｜",
    ]

    private static let devices: Set<String> = Set(
        ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"]
            + ["COM", "LPT"].flatMap { port in "0123456789¹²³".map { "\(port)\($0)" } })

    private static func keepVisible(_ scalars: [Unicode.Scalar]) -> String.UnicodeScalarView {
        var kept = String.UnicodeScalarView()
        for (index, scalar) in scalars.enumerated() {
            if scalar.isASCII {
                if scalar == "\t" || scalar == "\n" || scalar == "\r" {
                    kept.append(" ")
                } else if scalar.value >= 0x20, scalar.value != 0x7F {
                    kept.append(scalar)
                }
                continue
            }
            switch scalar.properties.generalCategory {
            case .spaceSeparator, .lineSeparator, .paragraphSeparator:
                kept.append(" ")
            case .control, .surrogate:
                if scalar.value == 0x85 { kept.append(" ") }
            case .format:
                let next = index + 1 < scalars.count ? scalars[index + 1] : nil
                if isNeeded(scalar, after: kept.last, before: next) { kept.append(scalar) }
            default:
                let isNoncharacter = scalar.value & 0xFFFE == 0xFFFE || (0xFDD0...0xFDEF).contains(scalar.value)
                if !isNoncharacter { kept.append(scalar) }
            }
        }
        return kept
    }

    private static func isNeeded(_ scalar: Unicode.Scalar, after: Unicode.Scalar?, before: Unicode.Scalar?) -> Bool {
        switch scalar.value {
        case 0x0600...0x0605, 0x06DD, 0x070F, 0x0890...0x0891, 0x08E2, 0x110BD, 0x110CD:
            // The number signs of Arabic, Syriac and Kaithi count as format characters, and are seen.
            return true
        case 0x200C, 0x200D:
            guard let after, let before else { return false }
            let joinsEmoji = scalar.value == 0x200D && isPictograph(after) && isPictograph(before)
            return joinsEmoji || (needsJoiners(after) && needsJoiners(before))
        case 0xE0020...0xE007F:
            // Tags spell the flags of regions behind a black flag; anywhere else they hide text.
            guard let after else { return false }
            return after.value == 0x1F3F4 || (0xE0020...0xE007F).contains(after.value)
        default:
            return false
        }
    }

    private static func isPictograph(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value == 0xFE0F || (!scalar.isASCII && scalar.properties.isEmoji)
    }

    /// Arabic, Syriac and the scripts of India, where a joiner changes what is read.
    private static func needsJoiners(_ scalar: Unicode.Scalar) -> Bool {
        (0x0600...0x0DFF).contains(scalar.value)
    }
}
