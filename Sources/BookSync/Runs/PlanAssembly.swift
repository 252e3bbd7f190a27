import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import SyncPlanner
import Transport

/// A plan with what is needed to execute it.
struct AssembledPlan: Sendable {
    var plan: SyncPlan
    var requests: [TransferRequest]
    /// Files that the listener renamed, to be recorded where they are now.
    var moved: [LocalFile]
    /// Episodes whose recorded file is no longer there: the record would only claim its path.
    var vanished: [EpisodeIdentity]
    /// Episodes that are fetched although the listener once removed them: by force, so the tombstone goes.
    var revived: [EpisodeIdentity]

    /// Where files are to be that are not there yet.
    var claims: [String] { requests.map(\.path) + plan.actions.filter { $0.kind == .rename }.map(\.path) }

    /// Sends the transfers the way that their source's requests take.
    mutating func useProxy(_ proxy: ProxyChoice) {
        for index in requests.indices { requests[index].proxy = proxy }
    }

    /// Lets the transfers ask for other addresses when theirs have expired.
    mutating func renewAddresses(through renewal: AddressRenewal) {
        for index in requests.indices {
            let episode = requests[index].episode.identity
            requests[index].renewAddress = { stale in
                try await renewal.address(of: episode, insteadOf: stale)
            }
        }
    }
}

/// Brings together what a plan depends on: catalog, records, wanted names, and the facts of the disk.
struct PlanAssembly: Sendable {
    let library: String
    let naming: NamingTemplate
    let request: RunRequest
    let store: CatalogStore?

    /// - Parameters:
    ///   - claimed: paths that other books of this run are going to take.
    ///   - allowsLocalAddresses: whether the audio may lie on this machine or in a private network.
    func plan(
        _ book: Book, episodes: [ShelvedEpisode], filter: EpisodeFilter, claimed: Set<String>,
        allowsLocalAddresses: Bool
    ) async throws -> AssembledPlan {
        let recorded = Dictionary(
            episodes.compactMap { shelved in shelved.file.map { (shelved.episode.identity.key, $0.path) } }
        ) { first, _ in first }
        let paths = try await paths(for: episodes.map(\.episode), of: book, recorded: recorded, claimed: claimed)
        let folders = Self.folders(of: paths.values).union(Self.folders(of: recorded.values))
        let files = try await FolderScan.scan(folders: folders, under: library)
        let rules = PlanRules(
            filter: try CompiledFilter(filter), order: request.order, force: request.force, now: Date())
        let plan = makePlan(
            for: PlannerInput(
                book: book, episodes: episodes, paths: paths, files: files,
                partials: try await resumableBytes(of: episodes), rules: rules))
        return assembled(plan, episodes: episodes, files: files, allowsLocalAddresses: allowsLocalAddresses)
    }

    private func paths(
        for episodes: [Episode], of book: Book, recorded: [String: String], claimed: Set<String>
    ) async throws -> [String: String] {
        let paths = libraryPaths(for: episodes, of: book, template: naming, recorded: recorded)
        let standing = try await store?.pathsOfOthers(than: book.identity, in: Self.folders(of: paths.values)) ?? []
        let others = standing.union(claimed)
        guard !others.isEmpty else { return paths }
        return libraryPaths(for: episodes, of: book, template: naming, recorded: recorded, others: others)
    }

    private static func folders(of paths: some Collection<String>) -> Set<String> {
        Set(paths.map { String(splitLibraryPath($0).folder) })
    }

    private func assembled(
        _ plan: SyncPlan, episodes: [ShelvedEpisode], files: [String: FileFacts], allowsLocalAddresses: Bool
    ) -> AssembledPlan {
        let places = Dictionary(episodes.indices.map { (episodes[$0].episode.identity, $0) }) { first, _ in first }
        var assembled = AssembledPlan(plan: plan, requests: [], moved: [], vanished: [], revived: [])
        for action in plan.actions {
            let known = places[action.episode.identity].map { episodes[$0] }
            if action.kind.isTransfer {
                if known?.removedAt != nil { assembled.revived.append(action.episode.identity) }
                assembled.requests.append(
                    TransferRequest(
                        episode: action.episode, path: action.path, record: known?.transfer,
                        replacing: action.replacing, overwrites: action.kind == .replace,
                        allowsLocalAddresses: allowsLocalAddresses))
            }
            guard var file = known?.file, files[file.path] == nil else { continue }
            if action.kind == .keep, action.fromPath == file.path {
                file.path = action.path
                assembled.moved.append(file)
            } else if !isBehindLink(file.path, files: files) {
                assembled.vanished.append(file.episode)
            }
        }
        return assembled
    }

    /// Whether the listener put a symbolic link in the place of one of the file's folders: links are not followed, so
    /// nobody knows whether the file is gone.
    private func isBehindLink(_ path: String, files: [String: FileFacts]) -> Bool {
        var folder = splitLibraryPath(path).folder
        while !folder.isEmpty {
            if files[String(folder)]?.kind == .symbolicLink { return true }
            folder = splitLibraryPath(String(folder)).folder
        }
        return false
    }

    /// Episode key → bytes of its partial file that will not be fetched again.
    private func resumableBytes(of episodes: [ShelvedEpisode]) async throws -> [String: Int64] {
        let begun = episodes.filter { $0.transfer != nil }
        guard !begun.isEmpty else { return [:] }
        let partials = try await PartialSizes(library: library)
        var bytes: [String: Int64] = [:]
        for shelved in begun {
            let held = partials.resumableBytes(of: shelved)
            if held > 0 { bytes[shelved.episode.identity.key] = held }
        }
        return bytes
    }
}
