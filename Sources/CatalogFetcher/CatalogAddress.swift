import BookModel
import Foundation
import Transport

/// Addresses as catalogs write them: whole, without a scheme, or relative to the catalog.
enum CatalogAddress {
    /// - Parameter base: the address that the answer came from.
    /// - Returns: nil when the text names nothing.
    static func resolve(_ text: String, against base: ResourceAddress) -> ResourceAddress? {
        let path = CatalogText.trimmed(text)
        guard !path.isEmpty, path != "null" else { return nil }
        if isWhole(path) { return ResourceAddress(path) }
        guard let url = URL(string: base.wireText) else { return ResourceAddress(path) }
        if path.hasPrefix("//") { return ResourceAddress("\(url.scheme ?? "http"):\(path)") }
        let resolved = URL(string: ResourceAddress(path).wireText, relativeTo: url)
        return ResourceAddress(resolved?.absoluteString ?? path)
    }

    /// Whether it begins with a scheme and `://`.
    private static func isWhole(_ path: String) -> Bool {
        let scheme = path.utf8.prefix {
            JSONBytes.isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
                || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
        }
        return !scheme.isEmpty && path.utf8[scheme.endIndex...].starts(with: "://".utf8)
    }
}

extension ResourceAddress {
    /// The host, with its port where one is written; for sentences.
    var host: String {
        guard let url = URL(string: wireText), let host = url.host else { return withoutSecrets }
        return url.port.map { "\(host):\($0)" } ?? host
    }
}
