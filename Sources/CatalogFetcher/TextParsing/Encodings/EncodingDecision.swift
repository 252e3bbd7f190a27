/// Which encoding a document is in whose declarations may be missing, or wrong.
///
/// Bytes tell UTF-8 from everything else: text in another encoding is as good as never valid UTF-8. Bytes do not tell
/// the others from one another, so for these the declarations count, the first that fits. Without any, GB18030 is
/// told from Windows-1252 by its pairs.
enum EncodingDecision {
    /// - Parameters:
    ///   - window: what follows from the first byte that is not ASCII on; its last character may be cut.
    ///   - declared: what the answer and the document declare, in the order of their weight.
    static func decide(_ window: UnsafeBufferPointer<UInt8>, declared: [Encoding]) -> Encoding {
        let (valid, invalid) = countUTF8(window)
        let others = declared.compactMap { encoding -> String? in
            if case .other(let name) = encoding { name } else { nil }
        }
        // Two or three pairs of an East Asian encoding may be valid by chance; more are not.
        if invalid == 0, valid >= 4 || others.isEmpty { return .utf8 }
        if let fitting = others.first(where: { countErrors(window, in: $0) == 0 }) { return .other(fitting) }
        if invalid == 0 || valid > invalid * 4 { return .utf8 }
        if let first = others.first { return .other(first) }
        return looksLikeGB18030(window) ? .other("GB18030") : .other("WINDOWS-1252")
    }

    private static func countUTF8(_ bytes: UnsafeBufferPointer<UInt8>) -> (valid: Int, invalid: Int) {
        var rest = bytes[..<UTF8Repair.endOfCompleteCharacters(bytes)].makeIterator()
        var parser = UTF8.ForwardParser()
        var counts = (valid: 0, invalid: 0)
        while true {
            switch parser.parseScalar(from: &rest) {
            case .valid(let character): counts.valid += character.count > 1 ? 1 : 0
            case .error: counts.invalid += 1
            case .emptyInput: return counts
            }
        }
    }

    private static func countErrors(_ bytes: UnsafeBufferPointer<UInt8>, in name: String) -> Int {
        guard let converter = EncodingConverter(name) else { return .max }
        converter.consume(bytes) { _ in }
        return converter.errors
    }

    /// Whether all that is not ASCII comes in pairs, most of them of common Chinese characters (GB 2312's rows 16 to
    /// 87) or punctuation.
    private static func looksLikeGB18030(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var common = 0
        var rare = 0
        var position = 0
        while true {
            position = UTF8Repair.endOfASCII(bytes, from: position)
            guard position + 1 < bytes.count else { break }
            switch (bytes[position], bytes[position + 1]) {
            case (0xA1...0xF7, 0xA1...0xFE): common += 1
            case (0x81...0xFE, 0x40...0x7E), (0x81...0xFE, 0x80...0xFE): rare += 1
            default: return false
            }
            position += 2
        }
        return common > rare * 2
    }
}
