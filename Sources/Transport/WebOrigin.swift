import BookModel

/// Scheme, host and port: what credentials belong to (RFC 6454 §4).
package struct WebOrigin: Sendable, Hashable {
    package let isSecure: Bool
    /// In lower case.
    let host: String
    let port: Int

    /// - Returns: nil for an address that is not one of http or https with a host.
    package init?(_ address: ResourceAddress) {
        guard let target = RequestTarget(address) else { return nil }
        self.init(target)
    }

    init(_ target: RequestTarget) {
        self.isSecure = target.isSecure
        self.host = target.host.lowercased()
        self.port = target.port
    }
}
