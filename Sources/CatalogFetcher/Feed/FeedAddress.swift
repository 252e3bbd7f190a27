import BookModel
import Foundation
import Transport

/// Addresses in feeds: what can be fetched, and what they are known by when their changing parts are taken away.
enum FeedAddress {
    // MARK: Files

    /// With those of audio that is downloaded, and bears another extension on the disk.
    static let audioExtensions = AudioExtension.known.union(["ape", "mka", "spx"])
    static let filmExtensions: Set<String> = ["mp4", "m4v", "mov", "mpg", "mpeg", "avi", "mkv", "webm", "wmv"]
    static let documentExtensions: Set<String> = [
        "jpg", "jpeg", "png", "gif", "webp", "svg", "pdf", "epub", "mobi", "zip", "rar", "txt", "html", "htm", "srt",
        "vtt",
        "json", "xml", "torrent",
    ]

    /// Of the last component of the path, in lower case; empty when there is none.
    static func fileExtension(of address: String) -> String {
        let path = address.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let ending = path.suffix(8)
        guard let point = ending.lastIndex(of: UInt8(ascii: ".")) else { return "" }
        let name = ending[ending.index(after: point)...]
        return name.contains(UInt8(ascii: "/")) ? "" : String(Substring(name)).lowercased()
    }

    /// The last component of the path without its extension, for an episode that has no other name.
    static func fileName(of address: String) -> String? {
        let path = address.prefix { $0 != "?" && $0 != "#" }
        guard let slashes = path.firstRange(of: "://"), let slash = path.lastIndex(of: "/"), slash >= slashes.upperBound
        else { return nil }
        let file = path[path.index(after: slash)...]
        let name = file.lastIndex(of: ".").map { file[..<$0] } ?? file
        let decoded = CatalogText.name(String(name).removingPercentEncoding ?? String(name))
        return decoded.isEmpty ? nil : decoded
    }

    // MARK: Identity

    /// Query parameters that change between two answers, or say who asks.
    private static let changingParameters: Set<String> = [
        "token", "access_token", "auth", "authkey", "auth_key", "key", "api_key", "apikey", "sig", "sign", "signature",
        "hmac", "hash", "expires", "expire", "expiry", "exp", "e", "policy", "key-pair-id", "awsaccesskeyid", "ts",
        "timestamp", "time", "nonce", "rand", "random", "rnd", "cache", "cb", "_", "session", "sessionid", "sid",
        "phpsessid", "jsessionid", "user", "uid", "userid", "email", "pw", "pass", "password", "passwd", "secret",
        "client", "from", "source", "ref", "updated", "dest-id", "stok", "st", "sc",
    ]

    private static func isChanging(_ name: Substring) -> Bool {
        let name = name.lowercased()
        return changingParameters.contains(name) || name.hasPrefix("utm_") || name.hasPrefix("x-amz-")
            || name.hasPrefix("x-goog-")
    }

    /// The address without what changes: scheme, user, the host's case, the fragment, and the query, or what of it
    /// changes.
    ///
    /// - Parameter keepsQuery: whether the query counts although the path names an audio file.
    static func normalised(_ address: String, keepsQuery: Bool) -> String {
        let text = address.prefix { $0 != "#" }
        let rest = text.firstRange(of: "://").map { text[$0.upperBound...] } ?? text
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let host = (authority.lastIndex(of: "@").map { authority[$0...].dropFirst() } ?? authority).lowercased()
        let bareHost = [":80", ":443"].first(where: host.hasSuffix).map { String(host.dropLast($0.count)) } ?? host
        let target = rest[authority.endIndex...]
        let path = target.prefix { $0 != "?" }
        let plain = bareHost + path
        if !keepsQuery, audioExtensions.contains(fileExtension(of: String(path))) { return plain }
        let query = target[path.endIndex...].dropFirst().split { $0 == "&" || $0 == ";" }.filter { pair in
            !isChanging(pair.prefix { $0 != "=" })
        }
        return query.isEmpty ? plain : plain + "?" + query.joined(separator: "&")
    }

    /// Whether a text is an address with a user or a query.
    static func mayHoldSecrets(_ text: String) -> Bool {
        text.utf8.contains { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "@") } && text.contains("://")
    }

    /// The address as it may be shown and stored: without user and password, and without the values of parameters that
    /// change, say who asks, or are too long to be a name.
    static func shown(_ address: String) -> String {
        guard mayHoldSecrets(address) || address.utf8.contains(UInt8(ascii: "#")) else { return address }
        let text = address.prefix { $0 != "#" }
        let base = ResourceAddress(String(text.prefix { $0 != "?" })).withoutSecrets
        guard let mark = text.firstIndex(of: "?") else { return base }
        let pairs = text[mark...].dropFirst().split { $0 == "&" || $0 == ";" }.map { pair -> String in
            let name = pair.prefix { $0 != "=" }
            let value = pair[name.endIndex...].dropFirst()
            if name.endIndex == pair.endIndex { return pair.count <= 12 ? String(pair) : "***" }
            return isChanging(name) || value.count > 12 ? "\(name)=***" : String(pair)
        }
        return pairs.isEmpty ? base : base + "?" + pairs.joined(separator: "&")
    }
}
