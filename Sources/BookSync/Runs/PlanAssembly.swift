import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import SyncPlanner

/// A plan with what is needed to execute it.
struct AssembledPlan: Sendable {
    var plan: SyncPlan
    var requests: [TransferRequest]
}

/// Brings together what a plan depends on: catalog, records, wanted names, and the facts of the disk.
struct PlanAssembly: Sendable {
    let library: String
    let naming: NamingTemplate
    let request: RunRequest

    func plan(_ book: Book, episodes: [ShelvedEpisode], filter: EpisodeFilter) async throws -> AssembledPlan {
        let recorded = Dictionary(
            episodes.compactMap { shelved in shelved.file.map { (shelved.episode.identity.key, $0.path) } }
        ) { first, _ in first }
        let paths = libraryPaths(
            for: episodes.map(\.episode), of: book, template: naming, recorded: recorded)
        let folders = Set((Array(paths.values) + Array(recorded.values)).map { String(splitLibraryPath($0).folder) })
        let files = try await scan(folders: folders, under: library)
        let partials = try await resumableBytes(of: episodes)
        let rules = PlanRules(
            filter: try CompiledFilter(filter), order: request.order, force: request.force, now: Date())
        let plan = makePlan(
            for: PlannerInput(
                book: book, episodes: episodes, paths: paths, files: files, partials: partials, rules: rules))
        let records = Dictionary(
            episodes.compactMap { shelved in shelved.transfer.map { (shelved.episode.identity, $0) } }
        ) { first, _ in first }
        let requests = plan.actions.filter(\.kind.isTransfer).map { action in
            TransferRequest(
                episode: action.episode, path: action.path, record: records[action.episode.identity],
                replacing: action.replacing)
        }
        return AssembledPlan(plan: plan, requests: requests)
    }

    /// Episode key → bytes of its partial file that will not be fetched again.
    private func resumableBytes(of episodes: [ShelvedEpisode]) async throws -> [String: Int64] {
        let begun = episodes.filter { $0.transfer != nil }
        guard !begun.isEmpty else { return [:] }
        let partials = try await scan(folders: [LibraryFolder.partialPath], under: library)
        var bytes: [String: Int64] = [:]
        for shelved in begun {
            let name = PartialFile.name(for: shelved.episode.identity)
            guard let record = shelved.transfer, let facts = partials["\(LibraryFolder.partialPath)/\(name)"]
            else { continue }
            let held = record.resumableBytes(
                ofPartialFile: facts.size, hasDigest: shelved.episode.digest != nil, bootID: BootIdentity.current)
            if held > 0 { bytes[shelved.episode.identity.key] = held }
        }
        return bytes
    }
}
