import BookModel
import CatalogStore
import Foundation
import LibraryFiles

/// Looks again and again whether something was written to the store of a library, which may be missing, be made, or be replaced
/// by another meanwhile.
struct StorePoller: Sendable {
    /// What is there now.
    struct Finding: Sendable {
        /// nil where there is none.
        var store: CatalogStore?
        /// The number of its file.
        var file: UInt64?
        /// Whether it is not the one of the look before: that was another, or there was none.
        var isOther: Bool
        /// Whether there was none at the look before, so that all that is in it happened since.
        var isNew: Bool
        /// Whether anything was written to it since that look; now and then it says so though nothing was.
        var isWritten: Bool
    }

    private var store: CatalogStore?
    /// The file that the store is in; another one in its place is another store.
    private var file: UInt64?
    private var version: StoreVersion?
    private var wasMissing = false

    /// - Throws: ``Failure`` when the store cannot be read.
    mutating func poll(_ library: String) async throws -> Finding {
        let copy = StoreCopy(of: .existing(at: library))
        let number = try await runBlocking { () -> UInt64? in
            let path = try copy.readablePath
            guard FileManager.default.fileExists(atPath: path) else { return nil }
            return try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? UInt64
        }
        var finding = Finding(store: store, file: number, isOther: number != file, isNew: wasMissing, isWritten: false)
        if store == nil || finding.isOther {
            await close()
            store = number == nil ? nil : try await LibraryFolder.readableStore(in: library)
            (file, wasMissing) = (number, number == nil)
            finding.store = store
        }
        if let store {
            let current = try await store.version()
            finding.isWritten = current != version
            version = current
        }
        return finding
    }

    /// Until the next look.
    mutating func close() async {
        let open = store
        (store, version) = (nil, nil)
        do {
            try await open?.close()
        } catch {
            // It was for reading only: nothing can be lost.
        }
    }
}
