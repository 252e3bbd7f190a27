import BookModel
import Foundation
import NIOHTTP1

/// What is configured of a source of feeds. Every value may be a secret, so printing the settings shows names only.
package struct FeedSettings: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package typealias Pair = (name: String, value: String)

    /// Where the feeds are: `{id}` stands for the book's id. Without it, the address of the source's one feed. Nil where
    /// ids are addresses.
    package var address: ResourceAddress?
    /// Whole addresses, secrets included, of feeds whose ids are addresses: what the user gave for this run.
    package var knownAddresses: [ResourceAddress]
    /// Added to the query of the source's own address.
    package var query: [Pair]
    /// Header fields for the server of ``address``; for those of all feeds where there is none.
    package var headers: [Pair]
    /// What else goes to the server and must not turn up in a text.
    package var alsoSecret: [String]
    /// Bytes of one answer that are read at most.
    package var maxResponseBytes: Int

    package init(
        address: ResourceAddress? = nil, knownAddresses: [ResourceAddress] = [], query: [Pair] = [],
        headers: [Pair] = [], alsoSecret: [String] = [], maxResponseBytes: Int = 256 << 20
    ) {
        self.address = address
        self.knownAddresses = knownAddresses
        self.query = query
        self.headers = headers
        self.alsoSecret = alsoSecret
        self.maxResponseBytes = maxResponseBytes
    }

    package var description: String { "feeds" + (address.map { " at \($0)" } ?? "") }
    package var debugDescription: String { description }
    package var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "address": address?.withoutSecrets ?? "", "query": query.map(\.name).joined(separator: ", "),
                "headers": headers.map(\.name).joined(separator: ", "),
            ])
    }
}

extension FeedSettings {
    /// The id of the book that a feed's address names: the address without secrets. Where something had to be left out,
    /// a few digits of a hash tell it from others.
    package static func bookID(of address: ResourceAddress) -> String {
        let text = FeedAddress.resolve(address.secretText, against: nil) ?? address.secretText
        // Most have nothing that could be left out.
        guard text.utf8.contains(where: { "?@#".utf8.contains($0) }) else { return text }
        let shown = FeedAddress.shown(text)
        let whole = String(text.prefix { $0 != "#" })
        guard shown != whole else { return shown }
        return shown + "#" + String(XMLNames.hash(whole.utf8) >> 32, radix: 16)
    }

    /// The address as one of http or https with a host; nil when it is none.
    package static func webAddress(_ address: ResourceAddress) -> ResourceAddress? {
        FeedAddress.resolve(address.secretText, against: nil).map(ResourceAddress.init)
    }

    /// Whether nothing was left out of the address that is the id of a book, so that it leads to the feed.
    package static func isWholeAddress(_ id: String) -> Bool {
        id.contains("://") && !id.contains("***") && !endsInDigits(id)
    }

    /// Whether what ``bookID(of:)`` puts behind an address without its secrets stands at the end.
    private static func endsInDigits(_ id: String) -> Bool {
        guard let mark = id.utf8.lastIndex(of: UInt8(ascii: "#")) else { return false }
        let digits = id.utf8[id.utf8.index(after: mark)...]
        return (1...8).contains(digits.count) && UInt32(Substring(digits), radix: 16) != nil
    }

    /// Where a book's feed is.
    ///
    /// - Throws: ``Failure`` of kind `configuration` when that is not known, or only without its secrets.
    func address(of book: BookIdentity) throws -> ResourceAddress {
        if let known = knownAddresses.first(where: { Self.bookID(of: $0) == book.id }) { return known }
        let isAddress = book.id.contains("://")
        if let address {
            if Self.bookID(of: address) == book.id { return address.adding(query: query) }
            if !isAddress {
                let filled = address.secretText.replacing("{id}", with: AddressPath.encoded(book.id))
                return ResourceAddress(filled).adding(query: query)
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
                why: "its address holds a secret, and secrets are not stored",
                remedy:
                    "name the whole address below subscriptions in the configuration, with the secret from the environment"
            )
        }
        return ResourceAddress(book.id)
    }

    /// Header fields for the server of a feed. Any address of a feed may come to belong to this source, for want of
    /// another one: what is meant for the source's own server goes to no other.
    func credentials(for feed: ResourceAddress) -> HTTPHeaders {
        guard address.map({ $0.server == feed.server }) ?? true else { return [:] }
        return HTTPHeaders(headers.map { ($0.name, $0.value) })
    }

    /// Everything in the request that must not turn up in a text.
    func secrets(in address: ResourceAddress) -> SecretMask {
        let text = address.secretText.prefix { $0 != "#" }
        let shown = address.withoutSecrets
        var values = (query + headers).map(\.value) + alsoSecret
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
