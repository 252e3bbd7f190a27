import BookModel
import CatalogStore
import Foundation

/// Decides which stored episode each episode of a listing is, and which number it has.
///
/// A listing only proposes: feeds lose guids, rotate tokens within them, renumber, and keep no more than their last items.
/// What the store knows decides, so that no episode is fetched twice or renamed because others came or went.
///
/// **Identity**, of what no row has by the first, by the next:
/// 1. the catalog's own identification (``Episode/rawKey``), which the row was listed with;
/// 2. the key, where the catalog's own identification is another now: only with the same name, date or address;
/// 3. the address; name and date; name and file name. Each only where one row and one listed episode have it.
///
/// **Numbers**: that of the row stays. What is new gets the number that the catalog states, where that is free, and
/// else the next one behind all others; see ``Episode/Numbering``.
struct EpisodeResolver {
    private let known: [KnownEpisode]
    /// Indices of `known`.
    private var unclaimed: Set<Int>

    init(known: [KnownEpisode]) {
        self.known = known
        unclaimed = Set(known.indices)
    }

    /// - Parameter listed: a whole listing; no two with one key.
    /// - Returns: the same in the same order, with the keys and sections under which they are to be stored.
    mutating func resolve(_ listed: [Episode]) -> [Episode] {
        var rows = [Int?](repeating: nil, count: listed.count)
        claimByIdentification(listed, &rows)
        for aspect in Aspect.allCases { claim(by: aspect, listed, &rows) }
        var resolved = listed
        setKeys(of: &resolved, rows)
        setSections(of: &resolved, rows)
        return resolved
    }

    // MARK: Identity

    private mutating func claimByIdentification(_ listed: [Episode], _ rows: inout [Int?]) {
        var byRawKey: [String: Int] = [:]
        var byKey: [String: Int] = [:]
        for (row, known) in known.enumerated() {
            byKey[known.key] = row
            if let rawKey = known.rawKey { byRawKey[rawKey] = byRawKey[rawKey] ?? row }
        }
        for (index, episode) in listed.enumerated() {
            guard let row = episode.rawKey.flatMap({ byRawKey[$0] ?? byKey[$0] }) else { continue }
            claim(row, for: index, &rows)
        }
        for (index, episode) in listed.enumerated() where rows[index] == nil {
            guard let row = byKey[episode.identity.key] else { continue }
            let isSame = episode.rawKey == nil || known[row].rawKey == nil || known[row].resembles(episode)
            if isSame { claim(row, for: index, &rows) }
        }
    }

    private mutating func claim(_ row: Int, for index: Int, _ rows: inout [Int?]) {
        if unclaimed.remove(row) != nil { rows[index] = row }
    }

    /// By what an episode is recognised whose identification changed.
    private enum Aspect: CaseIterable {
        case address, nameAndDate, nameAndFile

        func mark(name: String, publishedAt: Date?, address: String?) -> Mark? {
            switch self {
            case .address: address.flatMap { $0.contains("***") ? nil : Mark(text: $0) }
            case .nameAndDate: publishedAt.flatMap { name.isEmpty ? nil : Mark(text: name, date: $0) }
            // A feed of dated news may give all of them one name and one file.
            case .nameAndFile where publishedAt == nil && !name.isEmpty:
                address.map { Mark(text: name, file: $0.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").last) }
            case .nameAndFile: nil
            }
        }
    }

    private struct Mark: Hashable {
        var text: String
        var date: Date?
        var file: Substring?
    }

    private mutating func claim(by aspect: Aspect, _ listed: [Episode], _ rows: inout [Int?]) {
        guard !unclaimed.isEmpty else { return }
        let open = listed.indices.filter { rows[$0] == nil && listed[$0].rawKey != nil }
        guard !open.isEmpty else { return }
        let candidates = Self.unique(unclaimed) { row in
            let known = known[row]
            return aspect.mark(name: known.name, publishedAt: known.publishedAt, address: known.address)
        }
        let wanting = Self.unique(open) { index in
            let episode = listed[index]
            return aspect.mark(
                name: episode.name, publishedAt: episode.publishedAt, address: episode.address?.withoutSecrets)
        }
        for (mark, index) in wanting {
            // At one address there may be another file every day.
            guard let row = candidates[mark], known[row].isNamedOrDated(as: listed[index]) else { continue }
            claim(row, for: index, &rows)
        }
    }

    /// Those that have a mark which no other one has.
    private static func unique(_ indices: some Sequence<Int>, mark: (Int) -> Mark?) -> [Mark: Int] {
        var unique: [Mark: Int?] = [:]
        for index in indices {
            guard let mark = mark(index) else { continue }
            unique[mark] = unique[mark] == nil ? .some(index) : .some(nil)
        }
        return unique.compactMapValues { $0 }
    }

    /// A row keeps its key; what is new gets the proposed one, or the catalog's own where another has that.
    private func setKeys(of episodes: inout [Episode], _ rows: [Int?]) {
        var taken = Set(known.map(\.key))
        for (index, row) in rows.enumerated() {
            if let row { episodes[index].setKey(known[row].key) }
        }
        for (index, row) in rows.enumerated() where row == nil {
            guard let rawKey = episodes[index].rawKey else { continue }
            var key = episodes[index].identity.key
            var number = 1
            while !taken.insert(key).inserted {
                key = number == 1 ? rawKey : "\(rawKey)-\(number)"
                number += 1
            }
            episodes[index].setKey(key)
        }
    }

    // MARK: Numbers

    private func setSections(of episodes: inout [Episode], _ rows: [Int?]) {
        var taken = Set(known.map(\.section))
        var new: [Int] = []
        for (index, row) in rows.enumerated() where episodes[index].numbering != .catalog {
            if let row { episodes[index].section = known[row].section } else { new.append(index) }
        }
        // In the order of the proposals, so that what came later goes further behind.
        new.sort { (episodes[$0].section, $0) < (episodes[$1].section, $1) }
        var last = taken.max() ?? 0
        var late: [Int] = []
        for index in new {
            switch episodes[index].numbering {
            case .unnumbered, .catalog: break
            case .place where !known.isEmpty: late.append(index)
            case .place, .stated:
                if taken.insert(episodes[index].section).inserted {
                    last = max(last, episodes[index].section)
                } else {
                    late.append(index)
                }
            }
        }
        for index in late {
            last += 1
            episodes[index].section = last
        }
    }
}

extension KnownEpisode {
    /// Whether the episode may well be this one, though the catalog identifies it otherwise than before.
    fileprivate func resembles(_ episode: Episode) -> Bool {
        isNamedOrDated(as: episode)
            || address.map { !$0.contains("***") && $0 == episode.address?.withoutSecrets } ?? false
    }

    fileprivate func isNamedOrDated(as episode: Episode) -> Bool {
        name == episode.name || publishedAt != nil && publishedAt == episode.publishedAt
    }
}

extension Episode {
    fileprivate mutating func setKey(_ key: String) { identity = EpisodeIdentity(book: identity.book, key: key) }
}
