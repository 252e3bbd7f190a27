import BookModel
import CatalogStore
import Foundation
import Support
import Testing

@testable import BookSync
@testable import LibraryFiles

/// What the poller finds at the place of a store.
@Suite(.limitedConcurrency) struct StorePollerTests {
    private func store(in library: String) async throws -> CatalogStore {
        let folder = try await LibraryFolder.open(at: library)
        return try await CatalogStore(path: folder.storePath, access: .readWrite)
    }

    private func subscribe(_ store: CatalogStore, to id: String) async throws {
        _ = try await store.subscribe(Subscription(book: BookIdentity(source: "s", id: id), subscribedAt: .now))
    }

    @Test func `a store that is made, written, left alone and replaced is found so`() async throws {
        try await withTemporaryPath { (library: String) in
            var poller = StorePoller()
            #expect(try await poller.poll(library).store == nil)
            let first = try await store(in: library)
            try await subscribe(first, to: "1")
            var found = try await poller.poll(library)
            #expect(found.store != nil && found.isOther && found.isNew && found.isWritten)
            found = try await poller.poll(library)
            #expect(found.store != nil && !found.isOther && !found.isNew)
            try await subscribe(first, to: "2")
            found = try await poller.poll(library)
            #expect(!found.isOther && found.isWritten)
            // What was seen before it was closed is not news, but may have changed.
            await poller.close()
            found = try await poller.poll(library)
            #expect(found.store != nil && !found.isOther && found.isWritten)

            try await first.close()
            let path = LibraryFolder.existing(at: library).storePath
            try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
            let second = try await store(in: library)
            found = try await poller.poll(library)
            #expect(found.isOther && !found.isNew && found.isWritten)
            #expect(try await found.store?.subscriptions().isEmpty == true)
            try await second.close()
            await poller.close()
        }
    }
}
