import BookModel
import Foundation

/// Decides which stored episode each episode of a listing is, and which number it has.
///
/// A listing only proposes: feeds lose guids, rotate tokens within them, renumber, and keep no more than their last items.
/// What the store knows decides, so that no episode is fetched twice or renamed because others came or went.
///
/// **Identity**, of what no row has by the first, by the next:
/// 0. of the files of a directory: the size, where one row and one listed file have it, with the very same time. A file that
///    was renamed there is the same episode, and its row keeps its key;
/// 1. the catalog's own identification (``Episode/rawKey``), which the row was listed with;
/// 2. the key, where the catalog's own identification is another now: only with the same name, date or address;
/// 3. the address, with the same name or date; name and date; name and file name. Each only where one row and one listed
///    episode have it;
/// 4. on one day: the number, or the figures in the title; the file name; nearly the same title. Again only where that is
///    unique on both sides, and in a catalog that has another title now, of none of whose episodes more is known, only with the same name.
///
/// Another guid with another date is another episode, even if all else is the same: at one address there may be another
/// bulletin every hour. Only in a feed of which no guid stayed, and whose other episodes are there all the same, guids say nothing.
///
/// **Numbers**: that of the row stays, unless the user asked for all to be renumbered. A new episode gets the number that the
/// catalog states, where that is free, and else the next one behind all others; see ``Episode/Numbering``.
package struct EpisodeResolver {
    private let known: [Episode]
    private let isRenamed: Bool
    /// Indices of `known`.
    private var unclaimed: Set<Int>
    /// How many rows have another number than the listing gives them.
    package private(set) var misnumbered = 0

    /// - Parameter isRenamed: whether the catalog has another title than when it was read last.
    package init(known: [Episode], isRenamed: Bool = false) {
        self.known = known
        self.isRenamed = isRenamed
        unclaimed = Set(known.indices)
    }

    /// - Parameters:
    ///   - listed: a whole listing; no two with one key.
    ///   - renumbers: whether rows get the numbers that the listing gives them.
    /// - Returns: the same in the same order, with the keys and sections under which they are to be stored.
    package mutating func resolve(_ listed: [Episode], renumbers: Bool = false) -> [Episode] {
        var rows = [Int?](repeating: nil, count: listed.count)
        claimFiles(listed, &rows)
        claimByIdentification(listed, &rows)
        let isIdentified = rows.contains { $0 != nil }
        claimByLikeness(listed, &rows, trustsGuids: true)
        if !isIdentified, rows.contains(where: { $0 != nil }) { claimByLikeness(listed, &rows, trustsGuids: false) }
        var resolved = listed
        setKeys(of: &resolved, rows)
        let (kept, anew) = (sections(of: listed, rows, anew: false), sections(of: listed, rows, anew: true))
        misnumbered = listed.indices.count { rows[$0] != nil && kept[$0] != anew[$0] }
        for index in listed.indices { resolved[index].section = renumbers ? anew[index] : kept[index] }
        return resolved
    }

    // MARK: Identity

    private mutating func claimFiles(_ listed: [Episode], _ rows: inout [Int?]) {
        let files = Self.unique(listed.indices) { listed[$0].isFile ? listed[$0].size : nil }
        guard !files.isEmpty else { return }
        let candidates = Self.unique(known.indices) { known[$0].size }
        for (size, index) in files {
            guard let row = candidates[size], let before = known[row].modifiedAt, let now = listed[index].modifiedAt,
                abs(now.timeIntervalSince(before)) < 1
            else { continue }
            claim(row, for: index, &rows)
        }
    }

    private mutating func claimByIdentification(_ listed: [Episode], _ rows: inout [Int?]) {
        let byKey = Dictionary(known.indices.map { (known[$0].identity.key, $0) }) { first, _ in first }
        let rawKeys = known.indices.compactMap { row in known[row].rawKey.map { ($0, row) } }
        let byRawKey = Dictionary(rawKeys) { first, _ in first }
        // A key is the former name of a file that was renamed: the present one counts before it.
        for byName in [byRawKey, byKey] {
            for (index, episode) in listed.enumerated() where rows[index] == nil {
                if let row = episode.rawKey.flatMap({ byName[$0] }) { claim(row, for: index, &rows) }
            }
        }
    }

    private mutating func claim(_ row: Int, for index: Int, _ rows: inout [Int?]) {
        if unclaimed.remove(row) != nil { rows[index] = row }
    }

    /// - Parameter trustsGuids: whether another guid with another date is another episode.
    private mutating func claimByLikeness(_ listed: [Episode], _ rows: inout [Int?], trustsGuids: Bool) {
        guard !unclaimed.isEmpty else { return }
        let byKey = Dictionary(unclaimed.map { (known[$0].identity.key, $0) }) { first, _ in first }
        for index in listed.indices where rows[index] == nil {
            guard let row = byKey[listed[index].identity.key] else { continue }
            let (known, episode) = (known[row], listed[index])
            let isSame = episode.rawKey == nil || known.rawKey == nil || known.resembles(episode)
            if isSame, !trustsGuids || !known.contradicts(episode) { claim(row, for: index, &rows) }
        }
        // To catalogs in other zones the days are others: then what comes from noon to noon counts as one.
        for noon in [0.0, 43_200] {
            for aspect in EpisodeLikeness.allCases {
                // Somebody else's episodes of the same days are others.
                let isChance =
                    isRenamed && EpisodeLikeness.ofDays.contains(aspect) && rows.allSatisfy { $0 == nil }
                let open = listed.indices.filter { rows[$0] == nil && listed[$0].rawKey != nil && !listed[$0].isFile }
                guard !open.isEmpty, !unclaimed.isEmpty else { return }
                let wanting = Self.unique(open) { aspect.mark(of: listed[$0], noon) }
                let times = Set(wanting.keys.map(\.time))
                let candidates = Self.unique(unclaimed) { aspect.mark(of: known[$0], noon, among: times) }
                for (mark, index) in wanting {
                    guard let row = candidates[mark], aspect.fits(known[row], listed[index]),
                        !trustsGuids || !known[row].contradicts(listed[index]),
                        !isChance || known[row].name == listed[index].name
                    else { continue }
                    claim(row, for: index, &rows)
                }
            }
        }
    }

    /// Those that have a mark which no other one has.
    private static func unique<Mark: Hashable>(
        _ indices: some Sequence<Int>, mark: (Int) -> Mark?
    ) -> [Mark: Int] {
        var unique: [Mark: Int?] = [:]
        for index in indices {
            guard let mark = mark(index) else { continue }
            unique[mark] = unique[mark] == nil ? .some(index) : .some(nil)
        }
        return unique.compactMapValues { $0 }
    }

    /// A row keeps its key; what is new gets the proposed one, or the catalog's own where another has that.
    private func setKeys(of episodes: inout [Episode], _ rows: [Int?]) {
        var taken = Set(known.map(\.identity.key))
        for (index, row) in rows.enumerated() {
            if let row { episodes[index].setKey(known[row].identity.key) }
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

    /// - Parameter anew: whether rows get other numbers where the listing has them: what it states, and its order where it
    ///   lacks no row.
    private func sections(of episodes: [Episode], _ rows: [Int?], anew: Bool) -> [Int] {
        let followsPlaces = known.isEmpty || anew && unclaimed.isEmpty
        var sections = episodes.map(\.section)
        var taken = anew ? [] : Set(known.map(\.section))
        var new: [Int] = []
        for (index, row) in rows.enumerated() where episodes[index].numbering != .catalog {
            if let row, !anew || episodes[index].numbering == .place && !followsPlaces {
                sections[index] = known[row].section
                taken.insert(sections[index])
            } else {
                new.append(index)
            }
        }
        // In the order of the proposals, so that what came later goes further behind.
        new.sort { (sections[$0], $0) < (sections[$1], $1) }
        var last = max(taken.max() ?? 0, anew ? unclaimed.map { known[$0].section }.max() ?? 0 : 0)
        var late: [Int] = []
        for index in new {
            switch episodes[index].numbering {
            case .unnumbered, .catalog: break
            case .place where !followsPlaces: late.append(index)
            case .place, .stated:
                if taken.insert(sections[index]).inserted {
                    last = max(last, sections[index])
                } else {
                    late.append(index)
                }
            }
        }
        for index in late {
            last.addSaturated(1)
            sections[index] = last
        }
        return sections
    }
}

extension Episode {
    fileprivate mutating func setKey(_ key: String) { identity = EpisodeIdentity(book: identity.book, key: key) }
}
