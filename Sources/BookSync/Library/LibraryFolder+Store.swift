import BookModel
import CatalogStore
import Foundation

extension LibraryFolder {
    /// The folder of the partial files, relative to the library.
    static let partialPath = ".booksync/partial"

    /// The file of the store.
    package var storePath: String { ownFolder + "/store.sqlite" }

    /// The store of the library at `path`, opened for reading.
    /// - Returns: nil when there is none yet.
    static func readableStore(in path: String) async throws -> CatalogStore? {
        let storePath = existing(at: path).storePath
        guard try await offPool({ FileManager.default.fileExists(atPath: storePath) }) else { return nil }
        return try await CatalogStore(path: storePath, access: .readOnly)
    }
}
