import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles
import Settings
import SyncPlanner
import Transport

/// A plan with what is needed to execute it.
struct AssembledPlan: Sendable {
    var plan: SyncPlan
    var requests: [TransferRequest] = []
    /// Files that the user renamed, to be recorded where they are now; and those whose records are older than their tags.
    var moved: [LocalFile] = []
    /// Episodes whose recorded file is no longer there: the record would only claim its path.
    var vanished: [EpisodeIdentity] = []
    /// Episodes that are fetched although the user once removed them: by force, so the tombstone goes.
    var restored: [EpisodeIdentity] = []
    /// Episodes whose file the user deleted, which counts as removing them: they get a tombstone.
    var tombstoned: [EpisodeIdentity] = []
    /// Episodes whose files go to the trash, because their book's rule does not keep them.
    var expired: [EpisodeIdentity] = []
    /// Files that nobody had recorded, to be recorded where they are.
    var adoptions: [AdoptionExecution.Adoption] = []
    /// Why there is nothing to do although somebody named episodes; nil where the book has one of them.
    var unmet: Failure?
    /// Why episodes that somebody named are not fetched: they were removed.
    var removed: Failure?
    /// Why the listing that the plan was made from may lack episodes.
    var incomplete: Failure?
    /// Why the limits of the book's subscription let nothing of it begin, in this run or another; nil where they do.
    var starved: Failure?
    /// What is remembered, or may be, where there is nothing to do.
    var cached: CachedPlan?

    /// Where files are to be that are not there yet, and those that are this book's from now on.
    var claims: [String] {
        requests.map(\.path) + plan.actions.filter { $0.kind == .rename || $0.kind == .adopt }.map(\.path)
    }

    /// Has the transfers reach their servers as their source's requests do, and ask for other addresses when theirs have expired.
    /// - Parameter asOf: when the store and the disk were looked at.
    mutating func use(_ access: SourceAccess, asOf moment: ContinuousClock.Instant, renewing renewal: AddressRenewal) {
        for index in requests.indices {
            let episode = requests[index].episode.identity
            requests[index].access = access
            requests[index].asOf = moment
            requests[index].hasMirror = renewal.hasMirror
            requests[index].renewAddress = { stale in
                try await renewal.address(of: episode, insteadOf: stale)
            }
        }
    }
}

/// Brings together what a plan depends on: catalog, records, wanted names, and the facts of the disk.
struct PlanAssembly: Sendable {
    /// Absolute path.
    let library: String
    private let namings: Namings
    let request: RunRequest
    let onMissingFile: MissingFileRule
    let store: CatalogStore?
    private let librarySearch: LibrarySearch
    /// Whether plans with nothing to do say what to remember of them.
    var cachesPlans = false
    /// The rule for a book's files of which the catalog lists other versions.
    let catalogChangeRule: @Sendable (BookIdentity) -> CatalogChangeRule
    /// Asks an episode's server how long its audio is; nil when no server is asked.
    var declaredLength: (@Sendable (Episode) async throws -> Int64?)?

    init(_ configuration: Configuration, namings: Namings, request: RunRequest, store: CatalogStore?) {
        library = configuration.library
        onMissingFile = configuration.downloads.onMissingFile
        catalogChangeRule = { configuration.catalogChangeRule(of: $0) }
        self.namings = namings
        self.request = request
        self.store = store
        self.librarySearch = LibrarySearch(library: library, store: store)
    }

    /// - Parameters:
    ///   - item: what the request says of the book.
    ///   - claimed: paths that other books of this run are going to take.
    ///   - isComplete: whether the episodes are known to be all that the catalog lists.
    func plan(
        _ book: Book, episodes: [EpisodeRecord], item: RunRequest.Item, claimed: Set<String>, isComplete: Bool
    ) async throws -> AssembledPlan {
        let recorded = episodes.recordedPaths
        var (paths, others) = try await paths(
            for: episodes.map(\.episode), of: book, recorded: recorded, claimed: claimed)
        // What is only repaired stays where it is, whatever the naming has come to.
        if request.repairs != nil { paths.merge(recorded) { _, recorded in recorded } }
        let folders = Self.folders(of: paths.values).union(Self.folders(of: recorded.values))
        let entries = try await FolderScan.entries(of: folders, under: library)
        let files = FolderScan.facts(of: entries)
        let changed = episodes.compactMap(\.file).filter { file in
            files[file.path].map { $0.kind == .file && $0.size != file.size } ?? false
        }
        let looked = try await RetaggedFiles.examine(changed, .beginning, in: library)
        let retagged = try await RetaggedFiles.records(of: changed, looked: looked, in: library)
        var episodes = episodes
        for index in retagged.isEmpty ? 0..<0 : episodes.indices {
            episodes[index].file = retagged[episodes[index].episode.identity] ?? episodes[index].file
        }
        var rules = PlanRules(
            filter: try CompiledFilter(item.filter), order: item.order ?? request.order, limits: item.limits,
            keep: request.repairs == nil ? item.keep : nil, force: request.force, triesAtOnce: item.triesAtOnce,
            onMissingFile: onMissingFile, now: Date())
        rules.onCatalogChange = catalogChangeRule(book.identity)
        var input = PlannerInput(
            book: book, episodes: episodes, paths: paths, files: files,
            partials: try await resumableBytes(of: episodes), rules: rules, others: others)
        input.examined = looked
        input.isListingComplete = isComplete
        if item.keep?.isUnheard == true { input.heard = try await store?.heardEpisodes(of: book.identity) ?? [] }
        input.oftenReplaced = try await store?.oftenReplaced(in: book.identity) ?? []
        for (episode, damage) in request.repairs ?? [:] where episode.book == book.identity {
            input.damaged[episode.key] = damage
        }
        let missing = episodes.filter { shelved in shelved.file.map { files[$0.path] == nil } ?? false }
        try await search(for: missing, adding: &input)
        let isPart = recorded.count < episodes.count
        if let store, isPart || !changed.isEmpty {
            input.isStoreOlder = try await LibraryFolder.existing(at: library).hasNewerRun(than: store)
        }
        // By force also what was removed is wanted, and the user may have put it back anywhere.
        let mayLieAnywhere = recorded.isEmpty || isPart && (request.force || input.isStoreOlder)
        if mayLieAnywhere { try await searchLibrary(adding: &input) }
        var (plan, isAnswered) = try await recognisingPlan(for: &input)
        // Of two books with one title the other's files are there, and not recorded yet where the store was lost or is older.
        let obstructed = plan.actions.filter { $0.kind == .skip(.obstructed) }.map(\.path)
        if request.repairs == nil, !obstructed.isEmpty, case let marked = input.pathsMarkedForOthers,
            obstructed.contains(where: marked.contains)
        {
            let (free, taken) = try await self.paths(
                for: episodes.map(\.episode), of: book, recorded: recorded, claimed: claimed.union(marked))
            input.paths = free
            input.others.formUnion(taken)
            plan = try await recognisingPlan(for: &input).0
        }
        if let repairs = request.repairs { plan.actions.removeAll { repairs[$0.episode.identity] == nil } }
        var assembled = assembled(plan, input: input)
        assembled.moved = retagged.values.sorted { $0.path < $1.path } + assembled.moved
        assembled.unmet = item.unmet(among: episodes, isComplete: isComplete)
        assembled.removed = item.removed(by: plan)
        assembled.starved = item.starved(by: plan)
        // What took a look elsewhere depends on more than is remembered.
        if cachesPlans, missing.isEmpty, !isAnswered {
            assembled.cached = try await cached(assembled, item: item, folders: folders, entries: entries)
        }
        return assembled
    }

    /// How the book's files are named. A subscription may change while a server runs.
    func naming(of book: BookIdentity) async throws -> NamingTemplate {
        try namings.template(for: book, stored: try await store?.namingTemplate(of: book))
    }

    /// Where the book's files belong, and which paths are other books'.
    func paths(
        for episodes: [Episode], of book: Book, recorded: [String: String], claimed: Set<String>
    ) async throws -> (paths: [String: String], others: Set<String>) {
        let naming = try await naming(of: book.identity)
        let paths = libraryPaths(for: episodes, of: book, template: naming, recorded: recorded)
        let folders = Self.folders(of: paths.values).union(Self.folders(of: recorded.values))
        let ownedByOthers = try await store?.pathsOfOthers(than: book.identity, in: folders) ?? []
        let others = ownedByOthers.union(claimed)
        guard !others.isEmpty else { return (paths, others) }
        return (
            libraryPaths(for: episodes, of: book, template: naming, recorded: recorded, others: others), others
        )
    }

    /// Lists where in the library files may be that are no longer where they were recorded, as they were recorded or, where
    /// the store is an older copy, as the catalog has them now.
    private func search(for missing: [EpisodeRecord], adding input: inout PlannerInput) async throws {
        guard !missing.isEmpty else { return }
        let sizes = missing.flatMap { [$0.file?.size, $0.episode.size] }.compactMap(\.self)
        try await add(try await librarySearch.untrackedFiles(ofSizes: Set(sizes)), to: &input)
    }

    /// Lists where files may be of a book of which nothing is recorded, or not all that was fetched.
    private func searchLibrary(adding input: inout PlannerInput) async throws {
        let sizes = Set(input.episodes.compactMap(\.episode.size))
        let finds = try await librarySearch.finds(for: input.book, sizes: sizes)
        if !finds.folders.isEmpty {
            try await add(try await FolderScan.scanTrees(finds.folders, under: library), to: &input)
        }
        input.formerFolders = Self.folders(of: input.files.keys).filter { folder in
            finds.folders.contains { folder == $0 || folder.hasPrefix($0 + "/") }
        }
        input.examined.merge(finds.marked) { _, new in new }
        try await add(finds.marked.mapValues(\.facts), to: &input)
    }

    private func add(_ files: [String: FileAttributes], to input: inout PlannerInput) async throws {
        input.files.merge(files) { _, new in new }
        if let store, !files.isEmpty {
            input.others.formUnion(
                try await store.pathsOfOthers(than: input.book.identity, in: Self.folders(of: files.keys)))
        }
    }

    /// Makes the plan, with a look into the files that may be the book's.
    /// - Returns: the plan, and whether anything was looked into or asked for it.
    private func recognisingPlan(for input: inout PlannerInput) async throws -> (SyncPlan, isAnswered: Bool) {
        var asked: Set<String> = []
        while true {
            let (plan, questions, lengths) = makeProvisionalPlan(for: input)
            let unasked = input.episodes.map(\.episode).filter {
                lengths.contains($0.identity.key) && !asked.contains("length of \($0.identity.key)")
            }
            if let declaredLength, !unasked.isEmpty {
                for episode in unasked {
                    try Task.checkCancellation()
                    asked.insert("length of \(episode.identity.key)")
                    let key = episode.identity.key
                    do {
                        input.declaredLengths[key] = try await declaredLength(episode)
                    } catch {
                        // Not needed: what stands there is left alone, or asked about by the next run.
                        input.unansweredLengths.insert(key)
                    }
                }
                continue
            }
            // What has no answer cannot be read; asking again does not help.
            let open = questions.filter { !asked.contains("\($0)") }
            guard !open.isEmpty else { return (plan, !asked.isEmpty) }
            asked.formUnion(open.map { "\($0)" })
            let answers = try await FileExamination.examine(open, in: library)
            input.examined.merge(answers) { _, new in new }
        }
    }

    private static func folders(of paths: some Collection<String>) -> Set<String> {
        var folders: Set<String> = []
        var last: Substring?
        for path in paths {
            let folder = splitLibraryPath(path).folder
            // Most lie where the one before lay.
            if let last, last.utf8.elementsEqual(folder.utf8) { continue }
            folders.insert(String(folder))
            last = folder
        }
        return folders
    }

    private func assembled(_ plan: SyncPlan, input: PlannerInput) -> AssembledPlan {
        let (episodes, files) = (input.episodes, input.files)
        let indices = Dictionary(episodes.indices.map { (episodes[$0].episode.identity, $0) }) { first, _ in first }
        var assembled = AssembledPlan(plan: plan)
        var followed: Set<EpisodeIdentity> = []
        var renamedFrom: [EpisodeIdentity: String] = [:]
        for action in plan.actions where action.kind == .rename {
            renamedFrom[action.episode.identity] = action.fromPath
        }
        for action in plan.actions {
            let identity = action.episode.identity
            let known = indices[identity].map { episodes[$0] }
            let isTemplateName = input.paths[identity.key] == action.path
            // By force what was removed in this run, and is still in its place, stays there.
            let isWanted = action.kind.isTransfer || action.kind == .adopt || request.force && action.kind == .keep
            if isWanted, known?.removedAt != nil {
                assembled.restored.append(identity)
            }
            if action.kind == .skip(.tombstone), known?.removedAt == nil { assembled.tombstoned.append(identity) }
            if action.kind == .expire { assembled.expired.append(identity) }
            if action.kind == .adopt, action.fromPath == nil {
                let examined = input.examined[action.path]
                assembled.adoptions.append(
                    .init(
                        action: action, examined: examined?.digests.isEmpty == false ? examined : nil,
                        isNamedByUser: !isTemplateName,
                        mayBeEarlierVersion: (examined?.originalSize ?? action.bytes)
                            .map { input.mayBeEarlierVersion($0, of: action.episode) } ?? false))
            }
            if action.kind.isTransfer {
                var request = TransferRequest(episode: action.episode, path: action.path)
                request.title = plan.book.name
                request.record = known?.transfer
                request.replacing = action.replacing
                request.overwrites = action.kind == .replace
                request.mayBeGone = !input.rules.force && !input.rules.triesAtOnce
                if action.kind == .replace { request.existingFile = files[renamedFrom[identity] ?? action.path] }
                assembled.requests.append(request)
            }
            guard var file = known?.file, !followed.contains(identity) else { continue }
            if files[file.path] != nil {
                guard action.kind == .keep else { continue }
                let recorded = file
                // The user gave it the name that the naming wants by now.
                if isTemplateName { file.isNamedByUser = false }
                // The catalog has the file's size by now: from here on a change of it counts.
                if action.episode.size == file.fetchedSize { file.catalogSize = file.fetchedSize }
                if file != recorded { assembled.moved.append(file) }
            } else if let fromPath = action.fromPath, fromPath == file.path, action.kind != .rename {
                file.path = action.path
                file.isNamedByUser = !isTemplateName
                if action.kind == .adopt, let facts = files[action.path] {
                    file.modificationTime = facts.modificationTime
                    file.inode = facts.inode
                }
                assembled.moved.append(file)
                followed.insert(identity)
            } else if !files.isBehindLink(file.path) {
                assembled.vanished.append(file.episode)
            }
        }
        return assembled
    }

    /// Episode key → bytes of its partial file that will not be fetched again.
    private func resumableBytes(of episodes: [EpisodeRecord]) async throws -> [String: Int64] {
        let begun = episodes.filter { $0.transfer != nil }
        guard !begun.isEmpty else { return [:] }
        let partials = try await PartialSizes(library: library)
        var bytes: [String: Int64] = [:]
        for shelved in begun {
            let existing = partials.resumableBytes(of: shelved)
            if existing > 0 { bytes[shelved.episode.identity.key] = existing }
        }
        return bytes
    }
}

extension [EpisodeRecord] {
    /// Where their files are, by the episodes' keys.
    var recordedPaths: [String: String] {
        Dictionary(compactMap { $0.file.map { ($0.episode.key, $0.path) } }) { first, _ in first }
    }
}
