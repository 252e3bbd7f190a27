import BookModel
import Foundation
import Transport

/// Addresses as catalogs write them: whole, without a scheme, or relative to the catalog.
enum CatalogAddress {
    /// - Parameter base: the address that the answer came from.
    /// - Returns: an http or https address; nil when the text names nothing, or what cannot be fetched.
    static func resolve(_ text: String, against base: ResourceAddress) -> ResourceAddress? {
        guard names(text) else { return nil }
        return FeedAddress.resolve(text, against: base.secretText, maxLength: 16 << 10).map { ResourceAddress($0) }
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
