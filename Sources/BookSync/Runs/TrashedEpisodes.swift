import BookModel
import CatalogStore
import DownloadEngine
import LibraryFiles
import SyncPlanner

/// Episodes that a plan would fetch and whose files lie in the trash: they come back from there, and are not fetched again.
/// What the catalog has another version of stays there.
struct TrashedEpisodes: Sendable {
    private let files: [FileOperation]
    /// Where those of them go whose own place something else has, or is to have: where the plan wants them.
    private let elsewhere: [EpisodeIdentity: String]

    /// - Parameters:
    ///   - store: nil where there is none.
    ///   - library: absolute path.
    ///   - claimed: paths that other books' files are going to take.
    init(
        of assembled: AssembledPlan, in store: CatalogStore?, library: String, claimed: Set<String> = []
    ) async throws {
        let book = assembled.plan.book.identity
        let requests = assembled.requests.lazy.filter { !$0.overwrites }
        let wanted = Dictionary(requests.map { ($0.episode.identity, $0.episode) }) { first, _ in first }
        guard !wanted.isEmpty, let store else {
            (files, elsewhere) = ([], [:])
            return
        }
        let paths = Dictionary(requests.map { ($0.episode.identity, $0.path) }) { first, _ in first }
        let files = try await store.trashedFiles(of: book).filter { trashed in
            wanted[trashed.file.episode].map { trashed.file.catalogChange(to: $0) == nil } ?? false
        }
        self.files = files
        elsewhere = try await runBlocking {
            var elsewhere: [EpisodeIdentity: String] = [:]
            for file in files.map(\.file) where paths[file.episode] != file.path {
                let isTaken = try claimed.contains(file.path) || lookedUp(library + "/" + file.path) != nil
                if isTaken { elsewhere[file.episode] = paths[file.episode] }
            }
            return elsewhere
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
            let place = elsewhere[action.episode.identity] ?? file.path
            let isRenamed = !file.isNamedByUser && place != action.path
            plan.actions[index] = SyncAction(
                kind: isRenamed ? .rename : .keep, episode: action.episode,
                path: isRenamed ? action.path : place, fromPath: isRenamed ? place : nil, bytes: file.size,
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
        let restored = try await Trash(library: library, store: store).restore(sound, orTo: elsewhere).files
        guard !restored.isEmpty else { return nil }
        return restored.count == 1
            ? "1 file comes back from the trash" : "\(restored.count) files come back from the trash"
    }
}
