import BookModel
import Foundation
import Logging
import Support
import Transport

@testable import CatalogFetcher

/// Lists a book of a source that is asked over HTTP.
func list(
    _ id: String, in format: some CatalogFormat, source name: String = "mine", retries: Int = 1
) async throws -> ListedBook {
    let waits = RecordedWaits()
    let options = TransportOptions(connectTimeout: 60, stallTimeout: 60)
    return try await withHTTPTransport(options: options, logger: Logger(label: "test")) { transport in
        let source = format.source(
            over: CatalogClient(
                transport: transport, retry: RetryPolicy(retries: retries), pause: { try await waits.pause($0) }))
        var pages: [CatalogPage] = []
        let listing = try await source.list(BookIdentity(source: name, id: id)) { pages.append($0) }
        return ListedBook(pages: pages, listing: listing, waits: waits.all)
    }
}

/// The failure that listing a book ends with.
func failure(listing id: String, in format: some CatalogFormat) async throws -> Failure {
    do {
        _ = try await list(id, in: format)
    } catch let failure as Failure {
        return failure
    }
    throw NoFailure()
}

/// The failure that reading an answer ends with; nil when it is read.
func failure(reading text: String, as format: some CatalogFormat, id: String? = nil) throws -> Failure? {
    do {
        _ = try format.read(CatalogResponse(bytes: Array(text.utf8)), source: "mine", id: id)
        return nil
    } catch let failure as Failure {
        return failure
    }
}

/// Input spoilt in many ways, the same on every run: cut off at random points, with random bits turned over.
enum SpoiltInput {
    /// How many of each kind.
    static let count = Tier.choose(quick: 5, full: 20, long: 200)

    static func of(_ bytes: [UInt8], seed: UInt64) -> [[UInt8]] {
        var generator = SeededGenerator(seed: seed)
        var damaged: [[UInt8]] = []
        for _ in 0..<count {
            damaged.append(Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator))))
            var turned = bytes
            for _ in 0..<Int.random(in: 1...8, using: &generator) where !turned.isEmpty {
                turned[Int.random(in: turned.indices, using: &generator)] ^=
                    1 << UInt8.random(in: 0..<8, using: &generator)
            }
            damaged.append(turned)
        }
        return damaged
    }
}
