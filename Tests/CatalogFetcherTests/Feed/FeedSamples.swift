import BookModel

@testable import CatalogFetcher

/// The oracle read every file as if it came from here.
let oracleAddress = ResourceAddress("http://example.com/podcast/feed.xml")

let feedBook = BookIdentity(source: "feeds", id: "http://example.com/podcast/feed.xml")

func readFeed(
    _ bytes: [UInt8], contentType: String? = nil, address: ResourceAddress? = oracleAddress
) throws -> CatalogContents {
    try FeedSettings().read(
        CatalogResponse(bytes: bytes, address: address, contentType: contentType), source: feedBook.source,
        id: feedBook.id)
}

func readFeed(_ text: String) throws -> CatalogContents { try readFeed(Array(text.utf8)) }

/// An RSS feed around items.
func rss(_ items: String, head: String = "<title>T</title>", attributes: String = "") -> String {
    #"<?xml version="1.0"?><rss version="2.0" \#(attributes)><channel>\#(head)\#(items)</channel></rss>"#
}

extension CatalogContents {
    var warnings: String { listing.proof.warnings.map(\.description).joined(separator: "\n") }
    var addresses: [String?] { episodes.map { $0.address?.secretText } }
}
