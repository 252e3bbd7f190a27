import BookModel

/// Finds the files of a book's sections among the files of its archive item.
struct ArchiveMatch {
    private let files: [Episode]
    private let byName: [String: Int]
    private let byNumber: [Int: Int]

    /// - Parameter files: the item's, in its order.
    init(_ files: [Episode]) {
        self.files = files
        let names = files.map { file in
            FileRole.recordingName(
                file.address.flatMap { $0.pathText.split(separator: "/").last.map { AddressPath.name($0) } } ?? "")
        }
        byName = Self.unambiguous(names.map { Optional($0.lowercased()) })
        let tracks = files.map(\.number)
        // The names count on when the tracks do not say it all.
        byNumber = Self.unambiguous(tracks.contains(nil) ? NumbersInNames.numbers(in: names) : tracks)
    }

    private static func unambiguous<Key: Hashable>(_ keys: [Key?]) -> [Key: Int] {
        var places: [Key: Int] = [:]
        var doubtful: Set<Key> = []
        for (place, key) in keys.enumerated() {
            guard let key else { continue }
            if places.updateValue(place, forKey: key) != nil { doubtful.insert(key) }
        }
        return places.filter { !doubtful.contains($0.key) }
    }

    /// Fills in what the sections lack. A section's file is the one of its file name; failing that, where there are as
    /// many files as sections, the one in its place; failing that, the one that bears its number.
    ///
    /// - Parameters:
    ///   - episodes: those of the sections, one for each.
    ///   - names: the sections' file names without what says how they are encoded; nil where there is none.
    /// - Returns: how many are still without an address.
    func fill(_ episodes: inout [Episode], names: [String?]) -> Int {
        var taken: Set<Int> = []
        let isOneToOne = files.count == episodes.count
        for index in episodes.indices where episodes[index].isLocked {
            let place =
                (index < names.count ? names[index] : nil).flatMap { byName[$0.lowercased()] }
                ?? (isOneToOne ? index : episodes[index].number.flatMap { byNumber[$0] })
            guard let place, taken.insert(place).inserted else { continue }
            let file = files[place]
            episodes[index].address = file.address
            episodes[index].size = file.size
            episodes[index].digest = file.digest
            episodes[index].mediaType = file.mediaType
            episodes[index].modifiedAt = file.modifiedAt
            episodes[index].duration = file.duration ?? episodes[index].duration
            if episodes[index].name.isEmpty { episodes[index].name = file.name }
        }
        return episodes.count { $0.isLocked }
    }
}
