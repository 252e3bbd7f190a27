import BookModel

/// Recognises files that the store does not know at the place where they stand: those that the user renamed or
/// moved, and those that were there before the store was (because it was lost, or because the user put them there).
///
/// Nothing is recognised by its name alone, and no file as two episodes.
struct FileRecognition {
    struct Match: Equatable {
        var path: String
        var reason: Message
        /// nil when it is the recorded file: then its record follows it as it is.
        var verification: LocalFile.Verification?
    }

    /// Episode key → its file.
    private(set) var matches: [String: Match] = [:]
    /// Path → how far it is to be examined before more can be said.
    private(set) var questions: [String: ProbeDepth] = [:]

    /// The keys of the episodes whose servers are to be asked for a length.
    private(set) var lengthQuestions: Set<String> = []

    private let input: PlannerInput
    private let listed: Set<EpisodeIdentity>
    /// Files that are recorded as nobody's.
    private var untrackedFiles: [String: FileAttributes] = [:]

    /// - Parameters:
    ///   - episodes: in section order.
    ///   - conditions: of the episodes' recorded files, in the same order.
    ///   - wanted: the keys of the episodes that the filter lets pass.
    ///   - owners: path → key of the episode that the store records there.
    init(
        _ episodes: [EpisodeRecord], conditions: [FileCondition], wanted: Set<String>, owners: [String: String],
        input: PlannerInput
    ) {
        self.input = input
        self.listed = Set(episodes.lazy.map(\.episode.identity))
        var lost: [(shelved: EpisodeRecord, file: LocalFile)] = []
        var missing: [EpisodeRecord] = []
        for (shelved, condition) in zip(episodes, conditions) where !shelved.isGone {
            // Its tags are none of the catalog's.
            if case .changed(let file, let size) = condition,
                case let fetched = input.examined[file.path]?.originalSize ?? size,
                input.isStoreOlder || fetched == shelved.episode.size ?? fetched
            {
                matches[shelved.episode.identity.key] = successor(of: file, as: shelved.episode)
            }
        }
        for (shelved, condition) in zip(episodes, conditions) where shelved.removedAt == nil || input.rules.force {
            if case .missing(let file) = condition { lost.append((shelved, file)) }
            guard condition == .unrecorded || condition.isMissing, !shelved.isGone,
                wanted.contains(shelved.episode.identity.key) || input.isStoreOlder && shelved.removedAt == nil
            else { continue }
            missing.append(shelved)
        }
        guard !lost.isEmpty || !missing.isEmpty else { return }
        // Found under its wanted name.
        let spokenFor = Set(conditions.compactMap(\.existingFile?.path))
        untrackedFiles = input.files.filter { path, facts in
            facts.kind == .file && owners[path] == nil && !spokenFor.contains(path) && !input.others.contains(path)
                && !Self.isOurs(path)
        }
        follow(lost)
        missing.removeAll { matches[$0.episode.identity.key] != nil }
        let keys = Set(episodes.lazy.map(\.episode.identity.key))
        untrackedFiles = untrackedFiles.filter { path, _ in
            guard let mark = input.examined[path]?.mark, mark.episode.book != input.book.identity else { return true }
            // A feed or a source that moved is another book that lists the same.
            return keys.contains(mark.episode.key)
        }
        takeMarked(missing, wanted: wanted)
        // What was fetched of others than are asked for, and lies elsewhere, is found now or never: its mark says enough.
        missing.removeAll { matches[$0.episode.identity.key] != nil || !wanted.contains($0.episode.identity.key) }
        matchAtWantedPaths(missing)
        missing.removeAll { matches[$0.episode.identity.key] != nil }
        search(missing)
    }

    // MARK: - Recorded files that are elsewhere now

    private mutating func follow(_ lost: [(shelved: EpisodeRecord, file: LocalFile)]) {
        let sizes = Set(lost.map(\.file.size))
        var bySize: [Int64: [String]] = [:]
        for (path, facts) in untrackedFiles where sizes.contains(facts.size) {
            bySize[facts.size, default: []].append(path)
        }
        var open: [(file: LocalFile, candidates: [String])] = []
        for (shelved, file) in lost {
            let key = shelved.episode.identity.key
            let candidates = (bySize[file.size] ?? []).sorted { one, other in
                (rank(one, for: file, key: key), one) < (rank(other, for: file, key: key), other)
            }
            let same = candidates.first {
                untrackedFiles[$0]?.inode == file.inode && untrackedFiles[$0]?.modificationTime == file.modificationTime
            }
            if let same {
                take(same, for: file, because: "it has the same inode, size and time")
            } else {
                open.append((file, candidates))
            }
        }
        for (file, candidates) in open {
            for path in candidates where untrackedFiles[path] != nil {
                guard let digest = input.examined[path]?.digests[.sha256] else {
                    questions[path] = ProbeDepth.whole([]).united(with: questions[path])
                    continue
                }
                guard digest == file.sha256 else { continue }
                take(path, for: file, because: "its SHA-256 is the recorded one")
                break
            }
        }
    }

    private mutating func take(_ path: String, for file: LocalFile, because proof: Message) {
        untrackedFiles[path] = nil
        matches[file.episode.key] = Match(
            path: path, reason: "you moved it from \(file.path), and it stays where it is now; \(proof)",
            verification: nil)
    }

    /// Of files that are all alike, the one to be taken first.
    private func rank(_ path: String, for file: LocalFile, key: String) -> Int {
        if path == input.paths[key] { return 0 }
        let (found, recorded) = (splitLibraryPath(path), splitLibraryPath(file.path))
        return found.name == recorded.name ? 1 : found.folder == recorded.folder ? 2 : 3
    }

    // MARK: - Recorded files in whose place another one stands

    /// The file in a recorded one's place, where a run put it there whose record is lost: the disk was full when it was to be
    /// written, or the store is an older copy.
    private mutating func successor(of file: LocalFile, as episode: Episode) -> Match? {
        guard let examined = input.examined[file.path] else {
            questions[file.path] = ProbeDepth.beginning.united(with: questions[file.path])
            return nil
        }
        // What the user changed bears the mark of what it was.
        guard let mark = examined.mark, mark.episode == episode.identity, mark.sha256 != file.sha256 else { return nil }
        return markedMatch(episode, at: file.path)
    }

    // MARK: - Files that nobody recorded

    /// Files that say of themselves whose they are, wherever they stand, while their bytes are those that they speak of.
    /// - Parameter wanted: keys of the episodes that are asked for.
    private mutating func takeMarked(_ missing: [EpisodeRecord], wanted: Set<String>) {
        let sizes = Set(missing.compactMap(\.episode.size))
        var byEpisode: [EpisodeIdentity: [String]] = [:]
        for (path, facts) in untrackedFiles {
            guard let examined = input.examined[path] else {
                if sizes.contains(facts.size) { questions[path] = ProbeDepth.beginning.united(with: questions[path]) }
                continue
            }
            guard let mark = examined.mark else { continue }
            byEpisode[mark.episode, default: []].append(path)
        }
        for shelved in missing where !isUnderWay(shelved) || input.partials[shelved.episode.identity.key] == nil {
            let identity = shelved.episode.identity
            // A copy does not take the place of the file in its place.
            let place = input.paths[identity.key]
            for path in (byEpisode[identity] ?? []).sorted(by: { ($0 == place ? "" : $0) < ($1 == place ? "" : $1) }) {
                let isWanted = wanted.contains(identity.key)
                guard let match = markedMatch(shelved.episode, at: path, isWanted: isWanted) else { continue }
                untrackedFiles[path] = nil
                matches[identity.key] = match
                break
            }
        }
    }

    /// - Parameter isWanted: whether the server may be asked which version it is.
    private mutating func markedMatch(_ episode: Episode, at path: String, isWanted: Bool = true) -> Match? {
        guard let file = input.examined[path], let mark = file.mark else { return nil }
        // Of what was fetched; the tags that it has by now are not the catalog's.
        let hadDigest = mark.original?.promised != nil && mark.original?.promised == episode.digest
        let ownDigest = ContentDigest(algorithm: .sha256, hexadecimal: mark.sha256)
        let promised = hadDigest ? ownDigest : episode.digest ?? ownDigest
        let size = file.originalSize
        guard let digest = file.digests[.sha256], let fits = file.has(promised) else {
            questions[path] = ProbeDepth.whole([promised.algorithm]).united(with: questions[path])
            return nil
        }
        guard digest == mark.sha256, fits else { return nil }
        var reason: Message = "it bears the episode's mark, and its SHA-256 is the one in the mark"
        if episode.digest == nil, let listed = episode.size, listed != size, !episode.isLocked {
            // The mark says whose it is, and not of which version; the catalog's sizes are sometimes stale.
            guard isWanted else { return nil }
            let key = episode.identity.key
            if input.declaredLengths[key] == nil { lengthQuestions.insert(key) }
            if input.mayBeEarlierVersion(size, of: episode) {
                reason = "\(reason); its catalog lists another version by now, which the next run downloads"
            }
        }
        let isOfCatalogsSize = episode.size == size
        return Match(
            path: path, reason: reason,
            verification: episode.digest != nil ? .digest : isOfCatalogsSize ? .length : .unverified)
    }

    /// Files that stand right where the episode's is to be.
    private mutating func matchAtWantedPaths(_ missing: [EpisodeRecord]) {
        for shelved in missing {
            guard let path = input.paths[shelved.episode.identity.key], let facts = untrackedFiles[path],
                facts.size > 0,
                let match = match(shelved, at: path, facts)
            else { continue }
            untrackedFiles[path] = nil
            matches[shelved.episode.identity.key] = match
        }
    }

    private mutating func match(_ shelved: EpisodeRecord, at path: String, _ facts: FileAttributes) -> Match? {
        let episode = shelved.episode
        guard input.examined[path]?.bearsMark(ofOtherThan: episode, among: listed) != true else { return nil }
        if let digest = episode.digest {
            guard let fits = input.examined[path]?.has(digest) else {
                questions[path] = ProbeDepth.whole([digest.algorithm]).united(with: questions[path])
                return nil
            }
            let reason: Message = "it stands in its place, and the catalog's digest fits"
            return fits ? Match(path: path, reason: reason, verification: .digest) : nil
        }
        guard !isUnderWay(shelved), input.files[path + EpisodeMatcher.mark] == nil else { return nil }
        guard let beginning = input.examined[path]?.beginning else {
            questions[path] = ProbeDepth.beginning.united(with: questions[path])
            return nil
        }
        if episode.size == facts.size {
            let reason: Message = "it stands in its place, and has exactly the catalog's size"
            return beginning.isForeign ? nil : Match(path: path, reason: reason, verification: .length)
        }
        if let size = episode.size {
            // The catalog's sizes are sometimes stale; the server's word counts.
            guard beginning == .audio else { return nil }
            let declared = input.declaredLengths[episode.identity.key]
            if declared == nil, !episode.isLocked { lengthQuestions.insert(episode.identity.key) }
            let reason: Message =
                "it stands in its place, and has exactly the length that its server tells (the catalog's "
                + "\(size) bytes are stale)"
            return declared == facts.size ? Match(path: path, reason: reason, verification: .length) : nil
        }
        guard episode.size == nil, beginning == .audio else { return nil }
        let reason: Message =
            "it stands in its place and begins as audio does; no checksum to compare with"
        return Match(path: path, reason: reason, verification: .unverified)
    }

    /// Whether its own bytes are on their way: then nothing but a digest makes another file the episode's. Its mark does where
    /// none of those bytes are held: then they are in that file, which a run could not record before it was moved.
    private func isUnderWay(_ shelved: EpisodeRecord) -> Bool {
        guard let transfer = shelved.transfer else { return false }
        return transfer.state == .downloading || transfer.committedLength > 0 || transfer.total != nil
    }

    /// Files in the book's folders, those that it may have had included, under names of their own.
    private mutating func search(_ missing: [EpisodeRecord]) {
        guard !missing.isEmpty else { return }
        let folders = Set(input.paths.values.map { splitLibraryPath($0).folder }).union(
            input.formerFolders.map { $0[...] })
        let wantedPaths = Set(input.paths.values)
        let elsewhere = untrackedFiles.filter { path, _ in
            let (folder, name) = splitLibraryPath(path)
            return input.files[path + EpisodeMatcher.mark] == nil && folders.contains(folder)
                && !wantedPaths.contains(path) && name.first != "."
        }
        let matcher = EpisodeMatcher(
            missing.map(\.episode), of: input.book, among: elsewhere, examined: input.examined,
            digestOnly: Set(missing.filter(isUnderWay).map(\.episode.identity.key)), least: .size)
        for match in matcher.matches {
            untrackedFiles[match.path] = nil
            matches[match.episode.identity.key] = Match(
                path: match.path, reason: "it is there under a name of your own; \(match.confidence.words)",
                verification: match.confidence.verification)
        }
        for (path, examination) in matcher.questions { questions[path] = examination.united(with: questions[path]) }
    }

    // MARK: - Paths

    /// Whether it is what booksync keeps for itself, or a file of a rename that stepped aside.
    private static func isOurs(_ path: String) -> Bool { path.hasPrefix(".booksync") || path.contains("/.booksync-") }
}
