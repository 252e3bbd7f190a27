import BookModel
import NIOHTTP1
import Transport

/// One kind of catalog, as configured: recognises what is its own, reads answers, and makes the source that asks for
/// them. A further kind is one folder whose settings conform to this, and a line in ``SourceKind``.
package protocol CatalogFormat: Sendable {
    /// The book that an address names, told from its text alone; nil when it is none of this kind, or does not say.
    static func bookID(in address: ResourceAddress) -> String?

    /// The book that an answer is about, told from a look at it; nil when the answer is none of this kind.
    static func bookID(in answer: CatalogResponse) -> String?

    /// Reads one answer without asking anybody anything.
    ///
    /// What further answers would bring is missing, and the proof then says that the listing is incomplete.
    ///
    /// - Parameters:
    ///   - source: what the configuration calls the source.
    ///   - id: the book that was asked for; nil takes the one that the answer names, and where it names none `saved`.
    /// - Throws: ``Failure`` of kind `unknownBook` or `unreadableCatalog`.
    func read(_ answer: CatalogResponse, source: String, id: String?) throws -> CatalogContents

    /// The source that asks this catalog.
    func source(over client: CatalogClient) -> any CatalogSource
}

extension CatalogFormat {
    /// The id of a book that neither a user nor an answer named.
    static var savedID: String { "saved" }
}

/// The bytes of an answer, saved in a file or just received.
package struct CatalogResponse: Sendable {
    package var bytes: [UInt8]
    /// Where it came from in the end; nil when nobody knows.
    package var address: ResourceAddress?
    /// Where it is asked for from now on: the address that was asked, or where permanent redirects lead from there. Where a temporary one
    /// leads may be elsewhere tomorrow (RFC 9110 §15.4).
    package var lastingAddress: ResourceAddress?
    /// The answer's `Content-Type`, where that is known; its charset counts.
    package var contentType: String?

    /// - Parameter lastingAddress: nil where that is `address`.
    package init(
        bytes: [UInt8], address: ResourceAddress? = nil, lastingAddress: ResourceAddress? = nil,
        contentType: String? = nil
    ) {
        self.bytes = bytes
        self.address = address
        self.lastingAddress = lastingAddress ?? address
        self.contentType = contentType
    }

    /// The first byte that is neither white space nor part of a byte order mark.
    var firstByte: UInt8? {
        bytes.first { $0 > 0x20 && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF }
    }

    /// The JSON object that the answer is; nil when it is something else.
    var object: JSONValue? {
        guard firstByte == UInt8(ascii: "{") else { return nil }
        do throws(JSONFailure) {
            return try JSONReader.read(bytes)
        } catch {
            return nil
        }
    }

    /// - Throws: ``Failure`` of kind `unreadableCatalog` that tells what the answer is instead.
    func json(for subject: ErrorContext, secrets: SecretMask = SecretMask([])) throws -> JSONValue {
        do throws(JSONFailure) {
            return try JSONReader.read(bytes)
        } catch {
            throw subject.unreadable(why: CatalogClient.complaint(about: bytes, error, secrets: secrets))
        }
    }
}

/// A book with all that was read of it at once.
package struct CatalogContents: Sendable, Hashable {
    package var identity: BookIdentity
    /// In the order of the catalog, all distinct.
    package var episodes: [Episode]
    package var listing: CatalogListing

    package init(identity: BookIdentity, episodes: [Episode], listing: CatalogListing) {
        (self.identity, self.episodes, self.listing) = (identity, episodes, listing)
    }

    package var book: Book { listing.book(identity) }

    /// Hands the episodes on as pages of a bearable length.
    func deliver(to onPage: PageHandler) async throws {
        for start in stride(from: 0, to: episodes.count, by: Self.pageLength) {
            let page = episodes[start..<min(start + Self.pageLength, episodes.count)]
            try await onPage(CatalogPage(episodes: Array(page), declared: listing.proof.declared))
        }
    }

    static let pageLength = 1000
    /// No honest catalog has more; the longest known book has some ten thousand.
    static let maxEpisodes = 200_000
}

/// What is sent along with every request to the catalog's own server, and to no other. Every value may be a secret, so
/// printing it shows names only.
package struct CatalogCredentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package typealias Field = (name: String, value: String)

    var query: [Field]
    var alsoSecret: [String]

    /// - Parameter alsoSecret: what else goes to the server and must not turn up in a text.
    package init(query: [Field] = [], alsoSecret: [String] = []) {
        self.query = query
        self.alsoSecret = alsoSecret
    }

    /// A request with all of them.
    package func request(_ address: ResourceAddress) -> HTTPRequest {
        HTTPRequest(.get, address.adding(query: query))
    }

    package var secrets: SecretMask { SecretMask(secretTexts) }
    var secretTexts: [String] { query.flatMap { [$0.value, AddressPath.encoded($0.value)] } + alsoSecret }

    package var description: String { query.map(\.name).joined(separator: ", ") }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: ["names": description]) }
}
