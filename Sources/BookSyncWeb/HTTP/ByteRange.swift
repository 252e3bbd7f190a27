/// What a `Range` field asks of a representation of a known length (RFC 9110 §14).
package enum ByteRange: Sendable, Hashable {
    /// There is nothing to honour: another unit, several ranges, or no valid range at all. The whole is the answer.
    case ignored
    /// The bytes asked for are not there: 416.
    case unsatisfiable
    /// These bytes; never empty.
    case bytes(Range<Int64>)

    /// - Parameters:
    ///   - field: The field's value.
    ///   - length: Bytes of the whole representation.
    package static func asked(by field: String, length: Int64) -> ByteRange {
        let sides = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard sides.count == 2, trimmedField(sides[0]).lowercased() == "bytes" else { return .ignored }
        // Empty elements of a list are to be passed over (§5.6.1.2). Several ranges would need a multipart answer, which
        // no player asks for and a server need not give.
        let ranges = sides[1].split(separator: ",").map(trimmedField).filter { !$0.isEmpty }
        guard ranges.count == 1 else { return .ignored }
        let bounds = ranges[0].split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2 else { return .ignored }
        switch (position(bounds[0]), position(bounds[1])) {
        case (let first?, let last?):
            guard first <= last else { return .ignored }
            return from(first, to: last, length)
        case (let first?, nil) where bounds[1].isEmpty: return from(first, to: .max, length)
        case (nil, let count?) where bounds[0].isEmpty:
            guard count > 0 else { return .unsatisfiable }
            // The last bytes of nothing are nothing, which Content-Range has no way to say.
            return length == 0 ? .ignored : .bytes(max(0, length - count)..<length)
        default: return .ignored
        }
    }

    private static func from(_ first: Int64, to last: Int64, _ length: Int64) -> ByteRange {
        first < length ? .bytes(first..<(min(last, length - 1) + 1)) : .unsatisfiable
    }

    /// Digits only; what is too large for us is larger than any file.
    private static func position(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text) ?? .max
    }
}
