import BookModel
import CatalogFetcher
import Foundation
import LibraryFiles
import Logging
import Settings
import Transport

/// What a subscription to a collection would bring.
package struct CollectionPreview: Sendable, Hashable {
    package let collection: BookIdentity
    /// Books that the list has, and that the filter lets through.
    package var listed = 0
    package var books = 0
    /// Of the books whose list tells it.
    package var seconds = 0.0
    package var size: Int64 = 0
    /// Books of which the list does not tell how large they are.
    package var unknownSizes = 0
    /// Bytes that may be written to the library's disk; nil where there is no library yet.
    package var free: Int64?

    private init(of collection: BookIdentity) { self.collection = collection }

    /// Reads the whole list, and changes nothing.
    package static func read(
        _ subscription: Subscription, _ configuration: Configuration, logger: Logger
    ) async throws -> CollectionPreview {
        let filter = try CompiledCollectionFilter(subscription, now: .now)
        let limit = subscription.collection.maxBooks ?? .max
        var preview = CollectionPreview(of: subscription.book)
        try await withHTTPTransport(options: configuration.transportOptions, logger: logger) { transport in
            let list = try configuration.requireCollection(subscription.book, over: transport)
            var (cursor, emptyPages) = (String?.none, 0)
            repeat {
                let page = try await list.page(at: cursor)
                preview.listed += page.entries.count
                for entry in page.entries where preview.books < limit && filter.isWanted(entry) { preview.add(entry) }
                emptyPages = page.entries.isEmpty ? emptyPages + 1 : 0
                guard emptyPages < CollectionMirror.maxEmptyPages, preview.listed <= page.declared ?? .max else {
                    throw Failure.endlessList(subscription.book)
                }
                cursor = page.next
            } while cursor != nil
        }
        preview.free = try await runBlocking {
            guard FileManager.default.fileExists(atPath: configuration.library) else { return nil }
            let space = try DiskSpace(of: configuration.library)
            return max(0, space.free - space.reserve(of: configuration.downloads.minFreeSpace))
        }
        return preview
    }

    private mutating func add(_ entry: CatalogEntry) {
        books += 1
        seconds += entry.seconds ?? 0
        size = size.addingSaturated(max(0, entry.size ?? 0))
        if entry.size == nil { unknownSizes += 1 }
    }
}
