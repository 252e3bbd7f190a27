import BookModel
import Foundation
import Transport

/// Addresses as catalogs write them: whole, without a scheme, or relative to the catalog.
enum CatalogAddress {
    /// - Parameter base: the address that the answer came from.
    /// - Returns: an http or https address; nil when the text names nothing, or what cannot be fetched.
    static func resolve(_ text: String, against base: ResourceAddress) -> ResourceAddress? {
        guard names(text) else { return nil }
        return resolve(text: text, against: base.secretText, maxLength: 16 << 10).map { ResourceAddress($0) }
    }

    /// - Parameters:
    ///   - base: an absolute address; nil when it is not known.
    ///   - maxLength: bytes; servers refuse longer ones.
    /// - Returns: an http or https address with a host; nil when the text is none and leads to none.
    static func resolve(text: String, against base: String?, maxLength: Int = 8000) -> String? {
        let text = CatalogText.trimmed(text)
        guard !text.isEmpty, text.utf8.count <= maxLength else { return nil }
        for scheme in ["https://", "http://"] where text.utf8.starts(with: scheme.utf8) {
            return hasUsableHost(text.utf8.dropFirst(scheme.utf8.count)) ? text : nil
        }
        // Nothing is relative to an address that is not known; what is whole stays as it is.
        guard let whole = ResourceAddress(base ?? "").resolving(text)?.secretText,
            let scheme = ["https://", "http://"].first(where: { whole.prefix($0.count).lowercased() == $0 }),
            whole.utf8.count <= maxLength, hasUsableHost(whole.utf8.dropFirst(scheme.utf8.count))
        else { return nil }
        return scheme + whole.dropFirst(scheme.count)
    }

    /// - Parameter rest: what comes after `://`.
    private static func hasUsableHost(_ rest: Substring.UTF8View) -> Bool {
        let authority = rest.prefix { !"/?#".utf8.contains($0) }
        let at = authority.lastIndex(of: UInt8(ascii: "@"))
        let host = at.map { authority[authority.index(after: $0)...] } ?? authority
        guard !host.isEmpty, !host.contains(where: { $0 <= 0x20 }) else { return false }
        let afterBracket = host.lastIndex(of: UInt8(ascii: "]")).map { host[$0...] } ?? host
        guard let colon = afterBracket.firstIndex(of: UInt8(ascii: ":")) else { return true }
        let port = afterBracket[afterBracket.index(after: colon)...]
        guard colon > host.startIndex, port.allSatisfy(\.isDigit) else { return false }
        return port.isEmpty || (Int(String(Substring(port))).map { (1...65535).contains($0) } ?? false)
    }

    /// Whether the text is anything but one of the ways in which catalogs write that there is no address.
    static func names(_ text: String) -> Bool {
        let path = CatalogText.trimmed(text)
        return !path.isEmpty && path != "null"
    }
}

extension ResourceAddress {
    /// The host, with its port where one is written; for sentences.
    var host: String {
        guard let url = URL(string: wireText), let host = url.host else { return withoutSecrets }
        return url.port.map { "\(host):\($0)" } ?? host
    }
}
