import BookModel
import CatalogStore
import DownloadEngine
import LibraryFiles
import SyncPlanner

/// Episodes that a plan would fetch and whose files lie in the trash: they come back from there, and are not fetched again.
/// What the catalog has another version of stays there.
struct TrashedEpisodes: Sendable {
    private let files: [FileOperation]

    /// - Parameters:
    ///   - store: nil where there is none.
    ///   - claimed: paths that other books' files are going to take.
    init(of assembled: AssembledPlan, in store: CatalogStore?, claimed: Set<String> = []) async throws {
        let book = assembled.plan.book.identity
        let requests = assembled.requests.lazy.filter { !$0.overwrites }
        let wanted = Dictionary(requests.map { ($0.episode.identity, $0.episode) }) { first, _ in first }
        guard !wanted.isEmpty, let store else {
            files = []
            return
        }
        files = try await store.trashedFiles(of: book).filter {
            guard let episode = wanted[$0.file.episode], !claimed.contains($0.file.path) else { return false }
            return $0.file.catalogChange(to: episode) == nil
        }
    }

    /// What a plan, which changes nothing, says of it; nil where there is nothing to say.
    var notice: Message? {
        guard !files.isEmpty else { return nil }
        return files.count == 1
            ? "1 file comes back from the trash and is not fetched"
            : "\(files.count) files come back from the trash and are not fetched"
    }

    /// The plan as it comes out when the files are back.
    func restored(in plan: SyncPlan) -> SyncPlan {
        let files = Dictionary(files.map { ($0.file.episode, $0.file) }) { first, _ in first }
        var plan = plan
        for index in plan.actions.indices where plan.actions[index].kind.isTransfer {
            let action = plan.actions[index]
            guard let file = files[action.episode.identity] else { continue }
            let isRenamed = !file.isNamedByUser && file.path != action.path
            plan.actions[index] = SyncAction(
                kind: isRenamed ? .rename : .keep, episode: action.episode,
                path: isRenamed ? action.path : file.path, fromPath: isRenamed ? file.path : nil, bytes: file.size,
                reason: "it comes back from the trash")
        }
        return plan
    }

    /// Brings the files back.
    /// - Returns: what is told of it; nil where nothing came back.
    func restore(in library: String, _ store: CatalogStore) async throws -> Message? {
        guard !files.isEmpty else { return nil }
        // What was damaged before it was replaced, or does not come back, is fetched.
        let sound = try await runBlocking { [files] in
            files.filter { $0.file.hasContent(at: library + "/" + $0.to) }
        }
        let restored = try await Trash(library: library, store: store).restore(sound).files
        guard !restored.isEmpty else { return nil }
        return restored.count == 1
            ? "1 file comes back from the trash" : "\(restored.count) files come back from the trash"
    }
}
