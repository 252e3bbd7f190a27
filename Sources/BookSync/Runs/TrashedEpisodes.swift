import BookModel
import CatalogStore

/// Removed episodes that a run is asked for all the same (`--force`) and whose files lie in the trash: they come back from
/// there, and are not fetched again. What was forgotten to have been removed is fetched anew.
struct TrashedEpisodes: Sendable {
    private let files: [TrashedFile]

    /// - Parameter store: nil where there is none.
    init(of request: RunRequest, in store: CatalogStore?) async throws {
        guard request.force, request.repairs == nil, let store else {
            files = []
            return
        }
        let filters = Dictionary(request.items.map { ($0.book, $0.filter) }) { first, _ in first }
        var files: [TrashedFile] = []
        for trashed in try await store.trashedFiles() {
            let episode = trashed.file.episode
            guard trashed.isRemoved, trashed.movedAt != nil, let filter = filters[episode.book],
                filter.only?.contains(trashed.section) != false,
                // What the other filters mean, only a plan knows.
                filter == EpisodeFilter(only: filter.only),
                try await store.episode(episode)?.file == nil
            else { continue }
            files.append(trashed)
        }
        self.files = files
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
        // What does not come back is fetched.
        let restored = try await Trash(library: library, store: store).restore(files).files
        guard !restored.isEmpty else { return nil }
        return restored.count == 1
            ? "1 file comes back from the trash" : "\(restored.count) files come back from the trash"
    }
}
