import BookModel

/// A cookie, as browsers export it (RFC 6265 §5.3).
package struct Cookie: Sendable, Hashable {
    package var name: String
    package var value: Secret
    /// In lower case, without a dot before it.
    var domain: String
    var includesSubdomains: Bool
    var path: String
    /// Whether it may only go over HTTPS.
    var isSecure: Bool
    /// Seconds since 1970; nil for one that ends with the browser's session, which is good for as long as it is there.
    var expires: Double?

    /// Whether it goes with a request (RFC 6265 §5.4).
    ///
    /// - Parameter now: seconds since 1970.
    func belongs(to target: RequestTarget, now: Double) -> Bool {
        guard belongs(to: WebOrigin(target), now: now) else { return false }
        let asked = target.pathAndQuery.prefix { $0 != "?" }
        return asked.hasPrefix(path)
            && (asked.utf8.count == path.utf8.count || path.hasSuffix("/") || asked.dropFirst(path.count).first == "/")
    }

    /// Whether it goes with any request to a server.
    func belongs(to origin: WebOrigin, now: Double) -> Bool {
        if let expires, expires <= now { return false }
        if isSecure, !origin.isSecure { return false }
        return origin.host == domain
            || includesSubdomains && origin.host.hasSuffix("." + domain) && AddressScope.ofNumeric(origin.host) == nil
    }
}

/// The cookies of a file in Netscape's format, which browsers' exporters, curl and wget write: a line each, of seven
/// fields with tabs between them.
package struct CookieFile: Sendable, Hashable {
    package var cookies: [Cookie]

    init(cookies: [Cookie]) { self.cookies = cookies }

    /// - Throws: ``UnreadableLine``.
    package init(parsing text: String) throws(UnreadableLine) {
        var cookies: [Cookie] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            var fields = line.drop { $0 == "\u{FEFF}" }
            let marker = "#HttpOnly_"
            if fields.hasPrefix(marker) {
                fields = fields.dropFirst(marker.count)
            } else if fields.hasPrefix("#") || fields.allSatisfy(\.isWhitespace) {
                continue
            }
            let cookie = try Self.cookie(fields, line: index + 1)
            // The later one of two of the same name, domain and path counts (RFC 6265 §5.3).
            cookies.removeAll { ($0.name, $0.domain, $0.path) == (cookie.name, cookie.domain, cookie.path) }
            cookies.append(cookie)
        }
        self.cookies = cookies
    }

    /// Takes over what a `Set-Cookie` field says (RFC 6265 §5.2), for the host that sent it and no other. A cookie that came
    /// over HTTPS never goes over HTTP.
    mutating func set(_ field: String, by target: RequestTarget, now: Double) {
        let parts = field.split(separator: ";", omittingEmptySubsequences: false).map {
            $0.trimmingPrefix(" ").split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        }
        guard let pair = parts.first, pair.count == 2, !pair[0].isEmpty, field.utf8.count <= Self.maxFieldLength,
            field.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return }
        let folder = target.pathAndQuery.prefix { $0 != "?" }
        var cookie = Cookie(
            name: String(pair[0]), value: Secret(String(pair[1])), domain: target.host.lowercased(),
            includesSubdomains: false, path: String(folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)]) + "/",
            isSecure: target.isSecure)
        var maxAge: Double?
        for attribute in parts.dropFirst() where attribute.count == 2 {
            switch attribute[0].lowercased() {
            case "path" where attribute[1].hasPrefix("/"): cookie.path = String(attribute[1])
            case "max-age": maxAge = Double(attribute[1])
            case "expires": cookie.expires = HTTPDate.seconds(parsing: String(attribute[1])).map(Double.init)
            default: break
            }
        }
        if let maxAge { cookie.expires = now + maxAge }
        cookies.removeAll { ($0.name, $0.domain, $0.path) == (cookie.name, cookie.domain, cookie.path) }
        if cookies.count < Self.maxCount { cookies.append(cookie) }
    }

    private static let maxFieldLength = 4096
    private static let maxCount = 50

    private static func cookie(_ line: Substring, line number: Int) throws(UnreadableLine) -> Cookie {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
        guard fields.count == 7 else {
            throw UnreadableLine(line: number, why: "it has not the seven fields, with tabs between them, of a cookie")
        }
        guard let subdomains = flag(fields[1]), let isSecure = flag(fields[3]) else {
            throw UnreadableLine(line: number, why: "its second or fourth field is neither TRUE nor FALSE")
        }
        guard let expires = Double(fields[4]), expires.isFinite else {
            throw UnreadableLine(line: number, why: "its fifth field is no time in seconds since 1970")
        }
        let domain = fields[0].drop { $0 == "." }.lowercased()
        guard !domain.isEmpty, !fields[5].contains(";"), !fields[6].contains(";"),
            (fields[5] + fields[6]).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { throw UnreadableLine(line: number, why: "its domain, name or value is none of a cookie") }
        return Cookie(
            name: String(fields[5]), value: Secret(String(fields[6])), domain: domain, includesSubdomains: subdomains,
            path: fields[2].hasPrefix("/") ? String(fields[2]) : "/", isSecure: isSecure,
            expires: expires > 0 ? expires : nil)
    }

    private static func flag(_ text: Substring) -> Bool? {
        switch text.uppercased() {
        case "TRUE": true
        case "FALSE": false
        default: nil
        }
    }

    /// Whether any of them goes with a request to one of the origins.
    ///
    /// - Parameter now: seconds since 1970.
    package func hasAny(for origins: Set<WebOrigin>, now: Double) -> Bool {
        cookies.contains { cookie in origins.contains { cookie.belongs(to: $0, now: now) } }
    }

    /// The value of `Cookie` for a request; nil where none belongs to it. Longer paths come first (RFC 6265 §5.4).
    func field(for target: RequestTarget, now: Double) -> String? {
        let pairs = cookies.enumerated().filter { $0.element.belongs(to: target, now: now) }
            .sorted { ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset) }
            .map {
                $0.element.name.isEmpty
                    ? $0.element.value.secretText : "\($0.element.name)=\($0.element.value.secretText)"
            }
        return pairs.isEmpty ? nil : pairs.joined(separator: "; ")
    }
}

/// A line of a file of credentials that is none, in words that hold nothing of it.
package struct UnreadableLine: Error, Sendable, Hashable {
    /// From 1 on.
    package var line: Int
    package var why: Message
}
