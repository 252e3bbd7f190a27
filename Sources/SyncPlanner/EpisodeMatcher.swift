import BookModel

/// Tells which of some files are which episodes of a book: by digest where the catalog gives one, else by what another
/// program recorded, by exact size and number, or by number and name. What fits several is left alone.
///
/// It looks into no file: ``questions`` says which have to be examined first. Asked again with the answers it says the
/// rest.
package struct EpisodeMatcher {
    /// By what a file was recognised; the surest first.
    package enum Confidence: String, Sendable, CaseIterable {
        case digest, record, size, name

        /// In words for the user.
        package var words: Message {
            switch self {
            case .digest: "the catalog's digest fits"
            case .record: "another program recorded it as this episode's"
            case .size: "exactly the catalog's size, and the number in its name fits"
            case .name: "the number and the name fit"
            }
        }

        package var verification: LocalFile.Verification {
            switch self {
            case .digest: .digest
            case .size: .length
            case .record, .name: .unverified
            }
        }
    }

    package struct Match: Sendable, Hashable {
        package var episode: Episode
        package var path: String
        package var confidence: Confidence
    }

    /// By section.
    package private(set) var matches: [Match] = []
    /// Path → the episodes that it may be, or that it shares with other files.
    package private(set) var ambiguous: [String: [Episode]] = [:]
    /// Path → how far it is to be examined before more can be said.
    package private(set) var questions: [String: ProbeDepth] = [:]

    private let files: [String: FileAttributes]
    private let examined: [String: ExaminedFile]
    private let claims: [EpisodeIdentity: String]
    private let title: String
    private let listed: Set<EpisodeIdentity>
    private var hints: [String: FileNameHint] = [:]
    private var byNumber: [Int: [String]] = [:]
    private var bySize: [Int64: [String]] = [:]

    /// - Parameters:
    ///   - episodes: those that want a file. By digest alone those of `digestOnly`.
    ///   - files: path → what stands there; anything but files is passed over.
    ///   - claims: path → the episode that it is, as another program says.
    ///   - least: what is enough.
    ///   - isCandidate: whether a path may be an episode at all; the others tell of their neighbours only.
    package init(
        _ episodes: [Episode], of book: Book, among files: [String: FileAttributes], examined: [String: ExaminedFile],
        digestOnly: Set<String> = [], claims: [String: EpisodeIdentity] = [:], least: Confidence,
        isCandidate: (String) -> Bool = { _ in true }
    ) {
        // A downloader that lays files out in full marks the unfinished ones so.
        self.files = files.filter { path, facts in
            facts.kind == .file && facts.size > 0 && !path.hasSuffix(Self.mark) && files[path + Self.mark] == nil
                && isCandidate(path)
        }
        self.examined = examined
        self.claims = Dictionary(claims.sorted { $0.key < $1.key }.map { ($1, $0) }) { first, _ in first }
        self.title = book.title
        self.listed = Set(episodes.lazy.map(\.identity))
        guard !episodes.isEmpty, !self.files.isEmpty else { return }
        for (path, facts) in self.files {
            let hint = FileNameHint(Self.stem(of: path), title: title)
            hints[path] = hint
            bySize[facts.size, default: []].append(path)
            if let number = hint.number { byNumber[number, default: []].append(path) }
        }
        let sorted = episodes.sorted { ($0.section, $0.identity.key) < ($1.section, $1.identity.key) }
        var open = sorted
        var used: Set<String> = []
        for confidence in Confidence.allCases {
            let asked = confidence == .digest ? open : open.filter { !digestOnly.contains($0.identity.key) }
            accept(asked, by: confidence, used: &used)
            let settled = Set(matches.map(\.episode.identity.key))
                .union(ambiguous.values.joined().map(\.identity.key))
            open.removeAll { settled.contains($0.identity.key) }
            if confidence == least { break }
        }
        matches.sort {
            ($0.episode.section, $0.episode.identity.key) < ($1.episode.section, $1.episode.identity.key)
        }
    }

    /// One round: who fits whom, and then those pairs in which neither fits another.
    private mutating func accept(_ episodes: [Episode], by confidence: Confidence, used: inout Set<String>) {
        var fits: [(episode: Episode, paths: [String])] = []
        var takers: [String: [Episode]] = [:]
        for episode in episodes {
            let free = candidates(for: episode, by: confidence).filter { !used.contains($0) }.sorted()
            let paths = best(of: free.filter { fit(episode, $0, by: confidence) }, for: episode, by: confidence)
            guard !paths.isEmpty else { continue }
            fits.append((episode, paths))
            for path in paths { takers[path, default: []].append(episode) }
        }
        for (episode, paths) in fits {
            // Files with one digest are one file, and episodes with one digest are as good as one.
            let path = confidence == .digest ? paths.first { !used.contains($0) } : paths.first
            guard let path else { continue }
            if confidence == .digest || paths.count == 1 && takers[path]?.count == 1 {
                matches.append(Match(episode: episode, path: path, confidence: confidence))
                used.insert(path)
            } else {
                for path in paths { ambiguous[path] = takers[path] }
            }
        }
        used.formUnion(ambiguous.keys)
    }

    private func candidates(for episode: Episode, by confidence: Confidence) -> [String] {
        switch confidence {
        case .digest:
            guard episode.digest != nil else { return [] }
            return episode.size.map { bySize[$0] ?? [] } ?? byNumber[episode.section] ?? []
        case .record:
            return claims[episode.identity].map { files[$0] == nil ? [] : [$0] } ?? []
        case .size:
            guard episode.digest == nil, let size = episode.size else { return [] }
            return (bySize[size] ?? []).filter { hints[$0]?.number == episode.section }
        case .name:
            guard episode.digest == nil else { return [] }
            return (byNumber[episode.section] ?? []).filter { isNear(files[$0]?.size, to: episode.size) }
        }
    }

    /// Catalogs' sizes are sometimes stale, by what was mended in the tags or at the ends; another recording is further off.
    private func isNear(_ size: Int64?, to listed: Int64?) -> Bool {
        guard let size, let listed else { return true }
        return size >= listed - listed / 10 && size <= listed.addingSaturated(listed / 10)
    }

    private mutating func fit(_ episode: Episode, _ path: String, by confidence: Confidence) -> Bool {
        if confidence != .record, let digest = episode.digest {
            if let fits = examined[path]?.has(digest) { return fits }
            questions[path] = ProbeDepth.whole([digest.algorithm]).united(with: questions[path])
            return false
        }
        guard let file = examined[path] else {
            questions[path] = ProbeDepth.beginning.united(with: questions[path])
            return false
        }
        guard !file.bearsMark(ofOtherThan: episode, among: listed) else { return false }
        let beginning = file.beginning
        switch confidence {
        case .digest, .record, .size: return !beginning.isForeign
        case .name: return beginning == .audio && similarity(path, episode) >= FileNameHint.likely
        }
    }

    /// Of several files that fit, those with the likest name; a digest needs no name.
    private func best(of paths: [String], for episode: Episode, by confidence: Confidence) -> [String] {
        guard confidence != .digest, paths.count > 1 else { return paths }
        let rated = paths.map { (path: $0, similarity: similarity($0, episode)) }
        let highest = rated.map(\.similarity).max() ?? 0
        return rated.filter { $0.similarity == highest }.map(\.path)
    }

    private func similarity(_ path: String, _ episode: Episode) -> Double {
        hints[path]?.similarity(to: FileNameHint(episode.name, title: title)) ?? 0
    }

    static let mark = ".aria2"

    /// The name without its folder and extension.
    static func stem(of path: String) -> String {
        let name = splitLibraryPath(path).name
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }
}

extension ExaminedFile.Beginning {
    var isForeign: Bool { if case .foreign = self { true } else { false } }
}
