import BookModel
import CatalogStore
import DownloadEngine

/// Episodes that a plan would fetch and whose files lie in the trash: they come back from there, and are not fetched again.
struct TrashedEpisodes: Sendable {
    private let files: [TrashedFile]

    /// - Parameters:
    ///   - store: nil where there is none.
    ///   - claimed: paths that other books' files are going to take.
    init(of assembled: AssembledPlan, in store: CatalogStore?, claimed: Set<String> = []) async throws {
        let book = assembled.plan.book.identity
        let wanted = Set(assembled.requests.lazy.filter { $0.replacing == nil }.map(\.episode.identity))
        guard !wanted.isEmpty, let store else {
            files = []
            return
        }
        files = try await store.trashedFiles(of: book).filter {
            wanted.contains($0.file.episode) && !claimed.contains($0.file.path)
        }
    }

    /// What a plan, which changes nothing, says of it; nil where there is nothing to say.
    var notice: Message? {
        guard !files.isEmpty else { return nil }
        return files.count == 1
            ? "1 file comes back from the trash and is not fetched"
            : "\(files.count) files come back from the trash and are not fetched"
    }

    /// Brings the files back.
    /// - Returns: what is told of it; nil where nothing came back.
    func restore(in library: String, _ store: CatalogStore) async throws -> Message? {
        guard !files.isEmpty else { return nil }
        // What does not come back is fetched.
        let restored = try await Trash(library: library, store: store).restore(files).files
        guard !restored.isEmpty else { return nil }
        return restored.count == 1
            ? "1 file comes back from the trash" : "\(restored.count) files come back from the trash"
    }
}
