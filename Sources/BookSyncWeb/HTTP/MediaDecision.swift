import Hummingbird
import Transport

/// One version of something served, as far as conditions and ranges are concerned.
package struct MediaRepresentation: Sendable, Hashable {
    /// Bytes.
    package var length: Int64
    /// A strong entity tag, with its quotes.
    package var entityTag: String
    /// Seconds since 1970; nil for what is made anew for each request.
    package var lastModified: Int64?
    package var contentType: String
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
    package static func decide(_ request: Request, for media: MediaRepresentation, now: Int64) -> MediaDecision {
        let fields = request.headers
        func isUnmodified(since name: HTTPFields.Element.Name) -> Bool? {
            guard let modified = media.lastModified else { return nil }
            return fields[name].flatMap(HTTPDate.seconds(parsing:)).map { modified <= $0 }
        }
        if let tags = fields[.ifMatch] {
            guard EntityTags(tags).contain(strong: media.entityTag) else { return .preconditionFailed }
        } else if isUnmodified(since: .ifUnmodifiedSince) == false {
            return .preconditionFailed
        }
        if let tags = fields[.ifNoneMatch] {
            if EntityTags(tags).contain(weak: media.entityTag) { return .notModified }
        } else if isUnmodified(since: .ifModifiedSince) == true {
            return .notModified
        }
        // Range is defined for GET alone.
        guard let range = fields[.range], request.method != .head else { return .whole }
        if let validator = fields[.ifRange], !isSame(validator, media, now) { return .whole }
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
        guard let modified = media.lastModified else { return false }
        return HTTPDate.seconds(parsing: validator) == modified && now - modified >= 1
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
