import Transport

/// One version of something served, as far as conditions and ranges are concerned.
package struct MediaRepresentation: Sendable, Hashable {
    /// Bytes.
    package var length: Int64
    /// A strong entity tag, with its quotes.
    package var entityTag: String
    /// Seconds since 1970.
    package var lastModified: Int64
    package var contentType: String
}

/// The fields of a request that decide which part of a representation is the answer, as sent; nil where absent.
package struct MediaConditions: Sendable, Hashable {
    package var ifMatch: String?
    package var ifUnmodifiedSince: String?
    package var ifNoneMatch: String?
    package var ifModifiedSince: String?
    package var ifRange: String?
    package var range: String?
    /// Range is defined for GET alone.
    package var isHead = false
}

/// Which answer a request for a representation gets.
package enum MediaDecision: Sendable, Hashable {
    /// 200
    case whole
    /// 206 with these bytes
    case part(Range<Int64>)
    /// 304
    case notModified
    /// 412
    case preconditionFailed
    /// 416
    case unsatisfiable

    /// Evaluates the conditions in the order of RFC 9110 §13.2.2.
    /// - Parameter now: Seconds since 1970; a modification time is a strong validator only when it is past (§8.8.2.2).
    package static func decide(
        _ conditions: MediaConditions, for media: MediaRepresentation, now: Int64
    ) -> MediaDecision {
        if let tags = conditions.ifMatch {
            guard EntityTags(tags).contain(strong: media.entityTag) else { return .preconditionFailed }
        } else if let time = conditions.ifUnmodifiedSince.flatMap(HTTPDate.seconds(parsing:)) {
            guard media.lastModified <= time else { return .preconditionFailed }
        }
        if let tags = conditions.ifNoneMatch {
            if EntityTags(tags).contain(weak: media.entityTag) { return .notModified }
        } else if let time = conditions.ifModifiedSince.flatMap(HTTPDate.seconds(parsing:)), media.lastModified <= time
        {
            return .notModified
        }
        guard let range = conditions.range, !conditions.isHead else { return .whole }
        if let validator = conditions.ifRange, !isSame(validator, media, now) { return .whole }
        switch ByteRange.asked(by: range, length: media.length) {
        case .ignored: return .whole
        case .unsatisfiable: return .unsatisfiable
        case .bytes(let bytes): return .part(bytes)
        }
    }

    /// Whether an If-Range names exactly this version: an entity tag by strong comparison, or the exact modification
    /// time (not a later one) where that is strong (§13.1.5).
    private static func isSame(_ validator: String, _ media: MediaRepresentation, _ now: Int64) -> Bool {
        if validator.contains("\"") { return validator == media.entityTag }
        return HTTPDate.seconds(parsing: validator) == media.lastModified && now - media.lastModified >= 1
    }
}

/// The list of an If-Match or If-None-Match.
private struct EntityTags {
    private var isAny = false
    /// With quotes and, where weak, `W/`.
    private var tags: [Substring] = []

    init(_ field: String) {
        var rest = field[...]
        while true {
            rest = rest.drop { " \t,".contains($0) }
            if rest.isEmpty { return }
            if rest.first == "*" {
                isAny = true
                return
            }
            // A tag may hold commas, so only its quotes end it.
            let weakness = rest.hasPrefix("W/") ? 2 : 0
            let quoted = rest.dropFirst(weakness)
            guard quoted.first == "\"", let end = quoted.dropFirst().firstIndex(of: "\"") else { return }
            tags.append(rest[...end])
            rest = rest[rest.index(after: end)...]
        }
    }

    func contain(strong tag: String) -> Bool {
        isAny || tags.contains { $0 == tag }
    }

    func contain(weak tag: String) -> Bool {
        isAny || tags.contains { ($0.hasPrefix("W/") ? $0.dropFirst(2) : $0) == tag }
    }
}
