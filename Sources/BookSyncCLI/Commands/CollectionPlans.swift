import BookModel
import BookSync
import Foundation
import LibraryFiles
import Settings

extension Program {
    /// All subscriptions; where there is none, says so.
    func subscriptions(_ configuration: Configuration) async throws -> [Subscription] {
        let stored = try await ShelfReader.read(configuration.library) { try await $0.subscriptions() } ?? []
        let subscriptions = try configuration.allSubscriptions(with: stored)
        guard subscriptions.isEmpty else { return subscriptions }
        try await knownLibraries?.requireMounted(configuration.library, mayLackRecords: false)
        await note("nothing is subscribed to: booksync subscribe REF adds a book")
        return subscriptions
    }

    /// Prints what the lists of books among the subscriptions would bring.
    func printPreviews(of subscriptions: [Subscription], _ configuration: Configuration) async throws {
        for subscription in subscriptions where subscription.book.isCollection {
            let preview = try await CollectionPreview.read(subscription, configuration, logger: logger)
            await printLine(JSONDocument(preview))
            if !options.json { await streams.writeOutput([preview.sentence]) }
        }
    }
}

extension CollectionPreview {
    fileprivate var sentence: Message {
        let bytes = describeBytes(size)
        let parts: [Message?] = [
            books < listed ? "\(books) of \(Message(listed, "book"))" : Message(books, "book"),
            seconds > 0 ? "\(Int(clamping: seconds / 3600)) h" : nil,
            unknownSizes > 0
                ? "\(bytes) and \(Message(unknownSizes, "book")) of unknown size" : Message(verbatim: bytes),
            free.map { free in
                size <= free
                    ? "\(describeBytes(free)) may be written to the library's disk"
                    : "only \(describeBytes(free)) may be written to the library's disk"
            },
        ]
        return "\(collection): \(parts.compactMap(\.self).joined(separator: ", "))"
    }
}

extension JSONDocument {
    fileprivate init(_ preview: CollectionPreview) {
        self = [
            "event": "collection", "source": .string(preview.collection.source), "id": .string(preview.collection.id),
            "listed": .init(preview.listed), "books": .init(preview.books), "seconds": .init(preview.seconds),
            "size": .init(preview.size), "unknown_sizes": .init(preview.unknownSizes), "free": .init(preview.free),
        ]
    }
}
