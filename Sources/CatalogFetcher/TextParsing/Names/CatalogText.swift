import BookModel
import Foundation

/// Text as catalogs send it, made fit to be shown.
package enum CatalogText {
    /// A name on one line: without control characters and what misleads, HTML entities decoded, trimmed.
    package static func name(_ raw: String) -> String {
        let decoded = decodingEntities(raw)
        guard decoded.unicodeScalars.contains(where: { $0.isControl || $0.isMisleading }) else {
            return trimmed(decoded)
        }
        return cleaned(decoded, keepingLines: false)
    }

    /// A name that a catalog's search gives, cut where no title ends; nil for nothing.
    package static func title(_ raw: String) -> String? {
        // A single character may have a million accents.
        let title = name(String(raw.unicodeScalars.prefix(300)))
        return title.isEmpty ? nil : title
    }

    /// A book's id as an answer gives it, fit to be printed and typed; nil when nothing is left, or far too much.
    package static func id(_ raw: String?) -> String? {
        guard let raw, raw.utf8.count <= 1000 else { return nil }
        let id = cleaned(raw, keepingLines: false)
        return id.isEmpty ? nil : id
    }

    /// A language as BCP 47 has it; catalogs also write its English name.
    package static func language(_ raw: String) -> String? {
        let text = trimmed(raw).replacing("_", with: "-")
        let lowered = text.lowercased()
        if let code = libraryCodes[lowered] { return code }
        return isTag(text) ? Locale.Language(identifier: text).minimalIdentifier : languageNames[lowered]
    }

    /// The same without a region and a script: `zh`.
    package static func languageAlone(_ raw: String) -> String? {
        language(raw).map { String($0.prefix { $0 != "-" }) }
    }

    /// `en`, `zh-Hans-CN`. Lists of a hundred thousand books tell the language of each: a regular expression takes most of the time.
    private static func isTag(_ text: String) -> Bool {
        let isLetter = { (byte: UInt8) in (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard let first = parts.first, [2, 3].contains(first.count), first.allSatisfy(isLetter) else { return false }
        return parts.dropFirst().allSatisfy { part in
            (1...8).contains(part.count) && part.allSatisfy { isLetter($0) || $0.isDigit }
        }
    }

    private static let languageNames: [String: String] = {
        let english = Locale(identifier: "en")
        let names = Locale.LanguageCode.isoLanguageCodes.compactMap { code in
            english.localizedString(forLanguageCode: code.identifier).map { ($0.lowercased(), code.identifier) }
        }
        return Dictionary(names, uniquingKeysWith: { first, _ in first })
    }()

    /// The ways in which catalogs write a language: `zh`, `zho`, `chi`, `Chinese`.
    package static func spellings(ofLanguage code: String) -> [String] {
        let whole = Locale.LanguageCode(code).identifier(.alpha3)
        let library = libraryCodes.first { $0.value == code }?.key
        let name = Locale(identifier: "en").localizedString(forLanguageCode: code)
        return [code, whole, library, name].compactMap(\.self).reduce(into: []) {
            if !$0.contains($1) { $0.append($1) }
        }
    }

    /// What libraries write (ISO 639-2/B), where others write ISO 639-2/T.
    private static let libraryCodes = [
        "alb": "sq", "arm": "hy", "baq": "eu", "bur": "my", "chi": "zh", "cze": "cs", "dut": "nl", "fre": "fr",
        "geo": "ka", "ger": "de", "gre": "el", "ice": "is", "mac": "mk", "mao": "mi", "may": "ms", "per": "fa",
        "rum": "ro", "slo": "sk", "tib": "bo", "wel": "cy",
    ]

    /// A longer text, which keeps its lines.
    package static func paragraph(_ raw: String) -> String {
        cleaned(decodingEntities(raw).replacingOccurrences(of: "\r\n", with: "\n"), keepingLines: true)
    }

    package static func cleaned(_ text: String, keepingLines: Bool) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where !scalar.isMisleading {
            if scalar != "\u{85}", (0x80..<0xA0).contains(scalar.value) {
                // Within a word; a space would make two of it.
                if let meant = CharacterReference.windows1252(scalar) { scalars.append(meant) }
            } else {
                scalars.append(scalar.isControl && !(keepingLines && scalar == "\n") ? " " : scalar)
            }
        }
        return trimmed(String(scalars))
    }

    /// Without white space and byte order marks at either end.
    package static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.first, let last = scalars.last, isBlank(first) || isBlank(last) else { return text }
        let head = scalars.drop(while: isBlank)
        guard let end = head.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(Substring(head[...end]))
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII ? scalar.value <= 0x20 : scalar.properties.isWhitespace || scalar == "\u{FEFF}"
    }

    /// What a server sent, for a sentence of ours: on one line, without control characters, cut to `length`.
    package static func quotation(_ text: String, length: Int) -> String {
        let shown = cleaned(String(text.prefix(length * 4)), keepingLines: false)
        return shown.count <= length ? shown : shown.prefix(length - 1) + "…"
    }

    /// The beginning of an answer, for a sentence of ours.
    package static func quotation(_ bytes: [UInt8], length: Int) -> String {
        // Four bytes a character at most; what the cut leaves of the last one is dropped.
        var head = String(decoding: bytes.prefix(length * 4), as: UTF8.self)
        if bytes.count > length * 4, head.hasSuffix("\u{FFFD}") { head.removeLast() }
        return quotation(head, length: length)
    }

    /// Decodes HTML's character references once; what is none stays as it is.
    static func decodingEntities(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
        var decoded = ""
        var rest = Substring(text)
        while let ampersand = rest.utf8.firstIndex(of: UInt8(ascii: "&")) {
            decoded += rest[..<ampersand]
            rest = rest[rest.utf8.index(after: ampersand)...]
            let inside = rest.utf8.prefix(longestReference + 1)
            if let end = inside.firstIndex(of: UInt8(ascii: ";")), let character = character(of: rest[..<end]) {
                decoded.append(character)
                rest = rest[rest.utf8.index(after: end)...]
            } else {
                decoded.append("&")
            }
        }
        return decoded + rest
    }

    private static let longestReference = 10

    private static func character(of reference: Substring) -> Character? {
        Array(reference.utf8).withUnsafeBufferPointer(CharacterReference.scalar).map { Character($0) }
    }
}
