import BookModel
import CatalogStore

/// Changes what mirror follows. Works beside a run that is under way: the store takes one writer after the other.
package enum SubscriptionBook {
    package static func withStore(in library: String, _ body: (CatalogStore) async throws -> Void) async throws {
        let folder = try await LibraryFolder.open(at: library)
        let store = try await CatalogStore(path: folder.storePath, access: .readWrite)
        do {
            try await body(store)
        } catch {
            try await store.close()
            throw error
        }
        try await store.close()
    }
}
