import BookModel
import Foundation

/// What is configured of a source of feeds.
package struct FeedSettings: Sendable {
    /// Where the feeds are: `{id}` stands for the book's id. Without it, the address of the source's one feed. Nil where
    /// ids are addresses.
    package var address: ResourceAddress?
    /// Whole addresses, secrets included, of feeds whose ids are addresses: what the user gave for this run.
    package var knownAddresses: [ResourceAddress]
    /// The recorded address of the requested book, secrets included; nil if none is recorded.
    package var recordedAddress: ResourceAddress?
    /// For the source's own address.
    package var credentials: CatalogCredentials

    package init(
        address: ResourceAddress? = nil, knownAddresses: [ResourceAddress] = [],
        recordedAddress: ResourceAddress? = nil, credentials: CatalogCredentials = .init()
    ) {
        (self.address, self.knownAddresses) = (address, knownAddresses)
        (self.recordedAddress, self.credentials) = (recordedAddress, credentials)
    }
}

extension FeedSettings {
    /// The address as one of http or https with a host; nil when it is none.
    package static func webAddress(_ address: ResourceAddress) -> ResourceAddress? {
        CatalogAddress.resolve(text: address.secretText, against: nil).map(ResourceAddress.init)
    }

    /// Where a book's feed is.
    ///
    /// - Throws: ``Failure`` of kind `configuration` when that is not known, or only without its secrets.
    func address(of book: BookIdentity) throws -> ResourceAddress {
        let isAddress = book.id.contains("://")
        let given = isAddress ? Self.address(knownBy: book.id, among: knownAddresses) : nil
        // What the user gives now may have a newer password.
        let isOlder = !Self.isWholeAddress(book.id) && recordedAddress.map { Self.isID(book.id, of: $0) } ?? true
        if let known = isOlder ? given ?? recordedAddress : recordedAddress ?? given { return known }
        if let address {
            if isAddress, Self.isID(book.id, of: address) { return address.adding(query: credentials.query) }
            if !isAddress {
                let filled = address.secretText.replacing("{id}", with: AddressPath.encoded(book.id))
                return ResourceAddress(filled).adding(query: credentials.query)
            }
        }
        guard isAddress else {
            throw Failure(
                .configuration, what: "\(book) cannot be asked for",
                why: "the id is no address, and source \(book.source) has no url",
                remedy: "write its address, or url: https://…/{id} in source \(book.source)")
        }
        guard Self.isWholeAddress(book.id) else {
            throw Failure(
                .configuration, what: "\(book.id) cannot be asked for",
                why: "its address holds a secret, and is not recorded",
                remedy: "name the whole address once: booksync subscribe ADDRESS records it"
            )
        }
        return ResourceAddress(book.id)
    }

    /// Everything in the request that must not turn up in a text.
    func secrets(in address: ResourceAddress) -> SecretMask {
        let text = address.secretText.prefix { $0 != "#" }
        let shown = address.withoutSecrets
        var values = credentials.secretTexts
        for pair in text.drop(while: { $0 != "?" }).dropFirst().split(whereSeparator: { $0 == "&" || $0 == ";" }) {
            let value = pair.drop { $0 != "=" }.dropFirst()
            if !shown.contains("=\(value)") {
                values.append(String(value))
                if let decoded = value.removingPercentEncoding, decoded != value { values.append(decoded) }
            }
        }
        let authority = text.firstRange(of: "://").map { text[$0.upperBound...].prefix { $0 != "/" } } ?? ""
        if let at = authority.lastIndex(of: "@") { values += authority[..<at].split(separator: ":").map(String.init) }
        return SecretMask(values)
    }
}
