import BookModel
import NIOHTTP1

/// What to do with a response that may be a redirect (RFC 9110 §15.4).
enum RedirectDecision: Equatable {
    /// Not a redirect: this is the response.
    case accept
    case follow(ResourceAddress, sameOrigin: Bool)
    case refuse(Message, remedy: Message? = nil)
}

/// Whether a redirect of audio may lead from HTTPS down to HTTP. One of a catalog never may.
package enum DowngradeRule: String, Sendable, CaseIterable {
    /// Unless a server was sent credentials or cookies for it; these are never sent on over HTTP.
    case withoutCredentials = "without-credentials"
    case allow, refuse
}

enum RedirectPolicy {
    static let maxHops = 20

    /// - Parameters:
    ///   - hops: how many redirects were followed already.
    ///   - location: the `Location` field.
    ///   - downgrade: nil where the response is never to come over HTTP.
    ///   - sentCredentials: whether a server of this chain was sent credentials.
    static func decide(
        status: Int, location: String?, from address: ResourceAddress, hops: Int, downgrade: DowngradeRule? = nil,
        sentCredentials: Bool = false
    ) -> RedirectDecision {
        guard [301, 302, 303, 307, 308].contains(status), let location, !location.isEmpty else { return .accept }
        guard hops < maxHops else {
            return .refuse("more than \(maxHops) redirects in a row, the last of them from \(address)")
        }
        guard let target = address.resolving(location), let origin = WebOrigin(target) else {
            return .refuse("redirect \(hops + 1), from \(address), leads to an address that is not http or https")
        }
        let own = WebOrigin(address)
        if own?.isSecure == true, !origin.isSecure,
            downgrade != .allow && (downgrade != .withoutCredentials || sentCredentials)
        {
            return .refuse(
                "redirect \(hops + 1) leads from HTTPS down to HTTP, from \(address) to \(target)",
                remedy: downgrade.map { _ in "to follow it all the same, set https-downgrade: allow for its source" })
        }
        return .follow(target, sameOrigin: origin == own)
    }
}

/// A request on its way through redirects: where it is, and what it must remember of the hops before.
struct RedirectChain {
    private(set) var address: ResourceAddress
    private(set) var hops = 0
    /// The target of the permanent redirects at the start of the chain; nil without one. That of a temporary one holds for
    /// this request only (RFC 9110 §15.4).
    private(set) var movedTo: ResourceAddress?
    private(set) var hasLeftOrigin = false
    /// Set by servers of this chain. They go back to their own hosts only, and end with the chain.
    private var cookies: CookieFile
    private var sentCredentials = false
    private var visits: Set<Visit> = []
    private let first: ResourceAddress

    private struct Visit: Hashable {
        var address: String
        var cookies: String?
    }

    init(at address: ResourceAddress) {
        self.address = address
        first = address
        cookies = CookieFile(cookies: [])
    }

    /// The credentials for the next request, with the cookies of the chain among them.
    /// - Throws: ``TransportError`` when the same request was sent before.
    mutating func credentials(adding own: HTTPHeaders, to target: RequestTarget, now: Double) throws -> HTTPHeaders {
        var fields = hasLeftOrigin ? [:] : own
        let cookie = cookies.field(for: target, now: now)
        if let cookie { fields.replaceOrAdd(name: "Cookie", value: Self.joined(cookie, fields.first(name: "Cookie"))) }
        if !fields.isEmpty { sentCredentials = true }
        guard visits.insert(Visit(address: address.wireText, cookies: cookie)).inserted else {
            throw TransportError(
                .redirect("redirect \(hops) leads back to \(address): the redirects go in a circle"), address: address)
        }
        return fields
    }

    /// A cookie of the chain takes the place of one of the source that has its name.
    private static func joined(_ new: String, _ own: String?) -> String {
        let names = Set(new.split(separator: ";").map { $0.prefix { $0 != "=" }.trimmingPrefix(" ") })
        let others = (own ?? "").split(separator: ";").filter {
            !names.contains($0.prefix { $0 != "=" }.trimmingPrefix(" "))
        }
        return ([Substring(new)] + others.map { $0.trimmingPrefix(" ") }).joined(separator: "; ")
    }

    /// Follows the response where it is a redirect.
    /// - Returns: false where it is not.
    mutating func follow(
        _ head: HTTPResponseHead, of target: RequestTarget, downgrade: DowngradeRule?, now: Double
    ) throws -> Bool {
        let location = head.headers.first(name: "Location")
        let decision = RedirectPolicy.decide(
            status: Int(head.status.code), location: location, from: address, hops: hops, downgrade: downgrade,
            sentCredentials: sentCredentials || location.map(repeatsSecret) == true)
        switch decision {
        case .accept: return false
        case .refuse(let why, let remedy): throw TransportError(.redirect(why, remedy: remedy), address: address)
        case .follow(let next, let sameOrigin):
            for field in head.headers["Set-Cookie"] { cookies.set(field, by: target, now: now) }
            if !sameOrigin { hasLeftOrigin = true }
            let isPermanent = [.movedPermanently, .permanentRedirect].contains(head.status)
            if isPermanent, address == movedTo ?? first { movedTo = next }
            address = next
            hops += 1
            return true
        }
    }

    /// Whether the query of a location has something that identified the user in the address that was asked for first.
    private func repeatsSecret(_ location: String) -> Bool {
        guard first.holdsSecrets, let mark = location.firstIndex(of: "?") else { return false }
        let values = first.secretText.split(whereSeparator: { "?&;#".contains($0) }).dropFirst()
            .map { $0.drop { $0 != "=" }.dropFirst() }
        return values.contains { $0.count >= 8 && !$0.allSatisfy(\.isNumber) && location[mark...].contains($0) }
    }
}

extension ResourceAddress {
    /// The address as it goes over the wire (RFC 3986): without a fragment, with everything percent-encoded that may
    /// not stand in a URL, and with percent-encodings that are there already left alone.
    package var wireText: String {
        // Nearly every address is fit to be sent as it stands.
        if secretText.utf8.allSatisfy({ Self.isKept($0) && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "%") }) {
            return secretText
        }
        let trimmed = secretText.unicodeScalars.drop(while: Self.isBlank).reversed().drop(while: Self.isBlank)
            .reversed()
        var bytes = Array(String(String.UnicodeScalarView(trimmed)).utf8)
        if let fragment = bytes.firstIndex(of: UInt8(ascii: "#")) { bytes.removeSubrange(fragment...) }
        var index = -1
        return percentEncoded(bytes) { byte in
            index += 1
            // One that begins no percent-encoding stands for itself.
            if byte == UInt8(ascii: "%") {
                return index + 2 < bytes.count && bytes[index + 1].hexadecimalValue != nil
                    && bytes[index + 2].hexadecimalValue != nil
            }
            return Self.isKept(byte)
        }
    }

    static func isKept(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            false
        default: byte > 0x20 && byte < 0x7F
        }
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value <= 0x20 || scalar == "\u{FEFF}"
    }
}
