import BookModel

/// The attributes of an element of a feed.
struct FeedAttributes {
    var url: String?
    var href: String?
    var type: String?
    var relation: String?
    var base: String?
    var about: String?
    var medium: String?
    var title: String?
    /// Seconds.
    var start: Double?
    /// Bytes.
    var length: Int64?
    /// Seconds.
    var duration: Double?

    /// Of two attributes of one name the first counts.
    mutating func read(_ attributes: XMLAttributes) {
        for (attribute, value) in attributes {
            switch FeedAttribute(rawValue: attribute) {
            case .url: url = url ?? Self.text(value)
            case .href: href = href ?? Self.text(value)
            // Both a MIME type and Atom's `html` are written here.
            case .type: type = type ?? Self.text(value)
            case .relation: relation = relation ?? Self.text(value)?.lowercased()
            case .base: base = base ?? Self.text(value)
            case .about: about = about ?? Self.text(value)
            case .medium: medium = medium ?? Self.text(value)?.lowercased()
            case .title: title = title ?? Self.text(value)
            case .start: start = start ?? Self.text(value).flatMap { CatalogDuration.seconds(parsing: $0) }
            case .length: length = length ?? Self.length(value)
            case .duration: duration = duration ?? Self.text(value).flatMap { CatalogDuration.seconds(parsing: $0) }
            case .other, nil: break
            }
        }
    }

    private static func text(_ value: UnsafeBufferPointer<UInt8>) -> String? {
        guard let first = value.firstIndex(where: { $0 > 0x20 }), let last = value.lastIndex(where: { $0 > 0x20 })
        else { return nil }
        return String(decoding: UnsafeBufferPointer(rebasing: value[first...last]), as: UTF8.self)
    }

    /// - Returns: nil for what is no whole number, or no size of a file.
    private static func length(_ value: UnsafeBufferPointer<UInt8>) -> Int64? {
        var number: Int64 = 0
        for byte in value where byte > 0x20 {
            guard byte.isDigit, number <= FileSize.max else { return nil }
            number = number * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return FileSize.sensible(number)
    }
}
