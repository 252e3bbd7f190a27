import BookModel
import Foundation

/// The words and numbers that dates are made of.
package enum DateWords {
    static func number(_ text: Substring, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy(\.isDigit) else { return nil }
        return Int(text)
    }

    /// Two digits are a year from 1950 to 2049, three are counted from 1900 (RFC 2822 §4.3).
    static func year(_ number: Int, digits: Int) -> Int {
        switch digits {
        case 1, 2: number < 50 ? 2000 + number : 1900 + number
        case 3: 1900 + number
        default: number
        }
    }

    static func englishMonth(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> Int? {
        let word = UInt32(first | 0x20) << 16 | UInt32(second | 0x20) << 8 | UInt32(third | 0x20)
        return english.firstIndex(of: word).map { $0 + 1 }
    }

    private static let english: [UInt32] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ].map { $0.utf8.reduce(0) { $0 << 8 | UInt32($1) } }

    /// By its beginning, in English, German, French, Spanish, Hungarian and Greek.
    static func month(_ word: Substring) -> Int? {
        let plain = word.folding(options: [.diacriticInsensitive, .caseInsensitive], locale: nil).lowercased()
        guard plain.allSatisfy({ $0.isLetter || $0 == "." }) else { return nil }
        return months.firstIndex { names in names.contains { plain.hasPrefix($0) } }.map { $0 + 1 }
    }

    private static let months = [
        ["jan", "ene", "ιαν"], ["feb", "fev", "φεβ"], ["mar", "μαρ"], ["apr", "avr", "abr", "απρ"],
        ["may", "mai", "maj", "μαι"], ["jun", "juin", "ιουν"], ["jul", "juil", "ιουλ"],
        ["aug", "aou", "ago", "αυγ"], ["sep", "sze", "σεπ"], ["oct", "okt", "οκτ"], ["nov", "νοε"],
        ["dec", "dez", "dic", "δεκ"],
    ]

    /// `Z`, `+0800`, `+08:00`, `-5`, `GMT`, `GMT-04:00`, `Etc/GMT`, `PST`.
    /// - Returns: seconds east of Greenwich.
    static func offset(_ text: Substring) -> Int? {
        var name = text.lowercased()
        if name.hasPrefix("etc/") { name.removeFirst(4) }
        if let hours = zones[name] { return Int(hours * 3600) }
        guard let parts = name.wholeMatch(of: zone)?.output,
            let hours = Int(parts.2), let minutes = Int(parts.3 ?? "0"), hours < 24, minutes < 60
        else { return nil }
        return (hours * 3600 + minutes * 60) * (parts.1 == "-" ? -1 : 1)
    }

    /// Made once: each date of a feed has a zone. It is never changed, and reading it is safe from any thread.
    nonisolated(unsafe) private static let zone = /(?:gmt|utc|ut)?([+-])(\d{1,2})(?::?(\d\d))?/

    /// Hours east of Greenwich (RFC 822 §5, and those that are seen).
    private static let zones: [String: Double] = [
        "z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0, "at": -4, "ast": -4, "adt": -3, "et": -5, "est": -5, "edt": -4,
        "ct": -6, "cst": -6, "cdt": -5, "mt": -7, "mst": -7, "mdt": -6, "pt": -8, "pst": -8, "pdt": -7, "akst": -9,
        "akdt": -8, "hst": -10, "bst": 1, "west": 1, "met": 1, "mest": 2, "cet": 1, "cest": 2, "eet": 2, "eest": 3,
        "msk": 3, "ist": 5.5, "sgt": 8, "hkt": 8, "awst": 8, "jst": 9, "kst": 9, "acst": 9.5, "aest": 10, "aedt": 11,
        "nzst": 12, "nzdt": 13,
    ]
}
