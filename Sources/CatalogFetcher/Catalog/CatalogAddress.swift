import BookModel
import Foundation
import Transport

/// Addresses as catalogs write them: whole, without a scheme, or relative to the catalog.
enum CatalogAddress {
    /// - Parameter base: the address that the answer came from.
    /// - Returns: an http or https address; nil when the text names nothing, or what cannot be fetched.
    static func resolve(_ text: String, against base: ResourceAddress) -> ResourceAddress? {
        guard names(text) else { return nil }
        let path = CatalogText.trimmed(text)
        let address = isPlainlyOfWeb(path.utf8) ? ResourceAddress(path) : base.resolving(path)
        guard let address, address.secretText.utf8.count <= maxLength else { return nil }
        return isPlainlyOfWeb(address.secretText.utf8) || address.isOfWeb ? address : nil
    }

    /// Whether the address begins as nearly all do. Every episode's is looked at, and taking one apart takes as long as
    /// reading the rest of the element.
    private static func isPlainlyOfWeb(_ text: String.UTF8View) -> Bool {
        for scheme in ["http://", "https://"] where text.starts(with: scheme.utf8) {
            let first = text.dropFirst(scheme.utf8.count).first ?? 0
            return first.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first | 0x20)
        }
        return false
    }

    /// Whether the text is anything but one of the ways in which catalogs write that there is no address.
    static func names(_ text: String) -> Bool {
        let path = CatalogText.trimmed(text)
        return !path.isEmpty && path != "null"
    }

    /// Bytes. Servers refuse longer ones.
    private static let maxLength = 16 << 10
}

extension ResourceAddress {
    /// The host, with its port where one is written; for sentences.
    var host: String {
        guard let url = URL(string: wireText), let host = url.host else { return withoutSecrets }
        return url.port.map { "\(host):\($0)" } ?? host
    }
}
