import BookModel
import Foundation

/// What another program recorded of an episode that it fetched, and perhaps deleted since.
package struct FetchRecord: Sendable, Hashable {
    /// What the episode is known by, the surest first.
    package var marks: [EpisodeMark]
    /// Where its file is, relative to the folder of its book; nil where the program does not say, or there is none.
    package var file: String?

    package init(_ marks: [EpisodeMark], file: String? = nil) {
        self.marks = marks
        self.file = file
    }
}

/// Something by which an episode may be told from the others of its book.
package enum EpisodeMark: Sendable, Hashable {
    /// The guid of a feed, or the key by which a catalog knows it.
    case id(String)
    /// The address, as the catalog lists it.
    case address(String)
    /// The address without its scheme and its query.
    case place(String)
    /// Its name, and the day on which it was published (days since 1970, UTC).
    case title(String, day: Int)
    /// The name of the file at its address, without the extension.
    case file(String)

    /// The day of a moment, UTC.
    package static func day(of time: Date) -> Int {
        Int(clamping: (time.timeIntervalSince1970 / 86_400).rounded(.down))
    }

    /// Without scheme and query.
    package static func place(of address: String) -> EpisodeMark {
        let rest = address.firstRange(of: "://").map { address[$0.upperBound...] } ?? address[...]
        return .place(String(rest.prefix { $0 != "?" && $0 != "#" }))
    }
}

/// The episodes of a book that another program fetched, and their files.
package struct RecordedEpisodes: Sendable {
    package private(set) var episodes: Set<EpisodeIdentity> = []
    /// Path → the episode that its file is, as the program says.
    package private(set) var files: [String: EpisodeIdentity] = [:]
    /// How many records are of no episode that the catalog lists.
    package private(set) var unlisted = 0

    /// - Parameters:
    ///   - episodes: all that the catalog lists, and those it listed once.
    ///   - paths: of the files that there are, relative to the folder of the book.
    package init(_ records: [FetchRecord], of episodes: [Episode], paths: Set<String>) {
        var marked: [EpisodeMark: [EpisodeIdentity]] = [:]
        for episode in episodes {
            for mark in Set(episode.marks) { marked[mark, default: []].append(episode.identity) }
        }
        var withoutFile: Set<EpisodeIdentity> = []
        var ids: [String: EpisodeIdentity] = [:]
        // Of another book's episodes, whose files may lie in the same folder.
        var others: Set<String> = []
        for record in records {
            // What several episodes share tells none of them.
            guard let found = record.marks.lazy.compactMap({ marked[$0] }).first(where: { $0.count == 1 })?.first else {
                unlisted += 1
                for case .id(let id) in record.marks { others.insert(id) }
                continue
            }
            self.episodes.insert(found)
            if let file = record.file, paths.contains(file), files[file] == nil {
                files[file] = found
            } else {
                withoutFile.insert(found)
                for case .id(let id) in record.marks { ids[id] = found }
            }
        }
        let open = withoutFile.subtracting(files.values)
        let stems = paths.subtracting(files.keys).map { (path: $0, stem: EpisodeMatcher.stem(of: $0)) }
        for (path, stem) in stems {
            guard let episode = Self.idBehind(stem).flatMap({ ids[$0] }), open.contains(episode) else { continue }
            files[path] = episode
        }
        let named = Set(files.values)
        nameFiles(
            of: episodes.filter { open.contains($0.identity) && !named.contains($0.identity) },
            among: stems.filter { path, stem in
                files[path] == nil && Self.idBehind(stem).map { !others.contains($0) } ?? true
            })
    }

    /// `Title [id]`, as yt-dlp names files.
    private static func idBehind(_ stem: String) -> String? {
        guard stem.hasSuffix("]"), let bracket = stem.lastIndex(of: "[") else { return nil }
        return String(stem[stem.index(after: bracket)...].dropLast())
    }

    /// Finds files that bear the name of an episode, where that is the only one with it: other programs write a date in front
    /// of it, or an id behind.
    private mutating func nameFiles(of episodes: [Episode], among stems: [(path: String, stem: String)]) {
        // By their first words.
        var named: [String: [(episode: Episode, words: [String])]] = [:]
        for episode in episodes where episode.name.contains(where: \.isLetter) {
            let words = Self.words(of: episode.name)
            if let first = words.first { named[first, default: []].append((episode, words)) }
        }
        var found: [EpisodeIdentity: [String]] = [:]
        for (path, stem) in stems {
            let words = Self.words(of: stem)
            let fitting = words.indices.flatMap { start in
                (named[words[start]] ?? []).filter { words[start...].starts(with: $0.words) }
            }
            // A name that is the beginning of another is not meant where the other is there.
            guard let most = fitting.map(\.words.count).max() else { continue }
            let best = Set(fitting.filter { $0.words.count == most }.map(\.episode.identity))
            if best.count == 1, let episode = best.first { found[episode, default: []].append(path) }
        }
        for (episode, paths) in found where paths.count == 1 { files[paths[0]] = episode }
    }

    /// Letters and digits in a row.
    private static func words(of name: String) -> [String] {
        name.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }
}

extension Episode {
    fileprivate var marks: [EpisodeMark] {
        var marks = [guid, identity.key, rawKey].compactMap(\.self).map(EpisodeMark.id)
        if let address = address?.secretText {
            let place = EpisodeMark.place(of: address)
            marks += [.address(address), place]
            if case .place(let path) = place, let slash = path.lastIndex(of: "/") {
                let name = String(path[path.index(after: slash)...])
                marks.append(.file(EpisodeMatcher.stem(of: name.removingPercentEncoding ?? name)))
            }
        }
        if let publishedAt {
            // The other program may have counted days by another zone.
            let day = EpisodeMark.day(of: publishedAt)
            marks += (day - 1...day + 1).map { .title(name, day: $0) }
        }
        return marks
    }
}
