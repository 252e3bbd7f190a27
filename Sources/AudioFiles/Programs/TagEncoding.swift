import Foundation

/// Recognises Chinese that was read in the wrong encoding: many tags declare Latin-1 and are GBK.
///
/// The two are told apart by what Latin-1 looks like as GBK. An accented letter before an ASCII one becomes a rare character, one
/// before a blank or at the end is no character at all, and small accented letters never become a common one; so only
/// capitals in a row remain ("AÇÃO"), and these have letters around them. What neither rule decides is left as it is. A text in
/// another encoding, such as KOI8-R or Big5, may be taken for GBK: it was unreadable before.
enum TagEncoding {
    /// - Returns: the Chinese; or the text itself where it is none read as Latin-1.
    static func repaired(_ text: String) -> String {
        let bytes = text.unicodeScalars.compactMap { UInt8(exactly: $0.value) }
        // The number is Foundation's for GB18030.
        guard bytes.count == text.unicodeScalars.count, looksLikeGBK(bytes) else { return text }
        return String(bytes: bytes, encoding: String.Encoding(rawValue: 0x8000_0632)) ?? text
    }

    /// Whether most characters that are not ASCII are common Hanzi (the first level of GB 2312, in rows 16 to 55) or Chinese
    /// punctuation, and they do not stand as accented capitals do.
    private static func looksLikeGBK(_ bytes: [UInt8]) -> Bool {
        var common = 0
        var punctuation = 0
        var rare = 0
        var longestRun = 0
        var isAtLetter = false
        var index = 0
        while let start = bytes[index...].firstIndex(where: { $0 >= 0x80 }) {
            index = start
            while index < bytes.count, bytes[index] >= 0x80 {
                guard index + 1 < bytes.count else { return false }
                switch (bytes[index], bytes[index + 1]) {
                case (0xB0...0xD7, 0xA1...0xFE): common += 1
                case (0xA1...0xA3, 0xA1...0xFE): punctuation += 1
                case (0x81...0xFE, 0x40...0x7E), (0x81...0xFE, 0x80...0xFE): rare += 1
                default: return false
                }
                index += 2
            }
            longestRun = max(longestRun, (index - start) / 2)
            let neighbours = bytes[max(0, start - 1)..<start] + bytes[index...].prefix(1)
            isAtLetter = isAtLetter || neighbours.contains { ($0 | 0x20) &- UInt8(ascii: "a") < 26 }
        }
        guard common > 0, common + punctuation > rare * 3 / 2 else { return false }
        return longestRun >= 3 || !isAtLetter
    }
}
