import BookModel

/// A book out of the pages of its directory.
struct DirectoryBook {
    private let identity: BookIdentity
    private let directory: ResourceAddress
    private var files: [DirectoryEntry] = []
    private var keys: Set<String> = []
    private var title: String?
    private var warnings: [Message] = []
    private var isComplete = true

    /// - Parameter directory: the address of the book's own page.
    init(_ identity: BookIdentity, at directory: ResourceAddress) {
        self.identity = identity
        self.directory = directory
    }

    /// Adds what a page lists.
    ///
    /// - Parameter folder: the names of the path from the book's directory to the page; none for its own page.
    mutating func add(_ page: DirectoryPage, in folder: [String]) {
        if folder.isEmpty { title = page.title }
        for var entry in page.entries where !entry.isFolder {
            entry.path = folder + entry.path
            if keys.insert(entry.key).inserted { files.append(entry) }
        }
        if let shortfall = page.shortfall {
            record("the page\(Self.shown(folder)) was not read whole: \(shortfall); the listing counts as incomplete")
        }
    }

    /// A folder that could not be read.
    mutating func miss(_ folder: [String], why: Message) {
        record("the folder\(Self.shown(folder)) cannot be read: \(why); the listing counts as incomplete")
    }

    /// Folders beyond those that are read at all.
    mutating func stop(after count: Int) {
        record("only the first \(count) folders were read; the listing counts as incomplete")
    }

    private mutating func record(_ warning: Message) {
        isComplete = false
        if warnings.count < 20 { warnings.append(warning) }
    }

    private static func shown(_ folder: [String]) -> String {
        folder.isEmpty ? "" : " '\(CatalogText.quotation(folder.joined(separator: "/"), length: 100))'"
    }

    var hasAudio: Bool { files.contains { FileRole(ofName: $0.name).isAudio } }

    func contents() -> CatalogContents {
        var audio = files.filter { FileRole(ofName: $0.name).isAudio }
            .sorted { NaturalOrder.precedes($0.path, $1.path) }
        // Beside one another in the order that their names state, such as that of Roman numerals.
        if Set(audio.map { $0.path.dropLast() }).count == 1,
            let positions = NumbersInNames.positions(in: audio.map { FileRole.recordingName($0.name) })
        {
            let ranked = zip(positions, audio.indices).sorted { ($0.0 ?? .max, $0.1) < ($1.0 ?? .max, $1.1) }
            audio = ranked.map { audio[$0.1] }
        }
        let numbers = numbers(of: audio)
        let discs = discs(of: audio)
        let episodes = audio.enumerated().map { index, file in
            var episode = Episode(
                identity: EpisodeIdentity(book: identity, key: file.key), rawKey: file.key, section: index + 1,
                numbering: .place, name: CatalogText.name(FileRole.bareName(file.name)), address: file.address,
                size: FileSize.sensible(file.size), modifiedAt: file.modifiedAt,
                mediaType: FileRole(ofName: file.name).mediaType, number: numbers[index], season: discs[index])
            episode.isFile = true
            return episode
        }
        let absurd = audio.count { $0.size ?? 0 > FileSize.max }
        let warning: Message? =
            absurd > 0 ? "\(Message(absurd, "file")) with a size that no file of audio has: the size is ignored" : nil
        let proof = ListingProof(
            declared: nil, collected: episodes.count, isComplete: isComplete,
            warnings: warnings + [warning].compactMap(\.self))
        return CatalogContents(
            identity: identity, episodes: episodes,
            listing: CatalogListing(
                proof: proof, description: BookDescription(title: bookTitle, cover: cover),
                inferredTitle: TitleInference.title(from: episodes.map(\.name))))
    }

    private var bookTitle: String? {
        let own = directory.pathText.split(separator: "/").last.map { CatalogText.name(AddressPath.name($0)) }
        return own.flatMap { $0.isEmpty ? nil : $0 } ?? title.flatMap { DirectoryPage.plainTitle($0) }
    }

    /// Of each file the number that its name carries among those beside it.
    private func numbers(of audio: [DirectoryEntry]) -> [Int?] {
        let folders = Dictionary(grouping: audio.indices) { audio[$0].path.dropLast() }
        var numbers = [Int?](repeating: nil, count: audio.count)
        for indices in folders.values {
            let names = indices.map { FileRole.recordingName(audio[$0].name) }
            for (index, number) in zip(indices, NumbersInNames.numbers(in: names)) { numbers[index] = number }
        }
        return numbers
    }

    /// Of each file in a sub-directory the number of the disc: that in the folder's name, else its index.
    private func discs(of audio: [DirectoryEntry]) -> [Int?] {
        var folders: [String] = []
        for case let folder? in audio.lazy.map({ $0.path.count > 1 ? $0.path[0] : nil }) where folders.last != folder {
            folders.append(folder)
        }
        let numbers = NumbersInNames.numbers(in: folders)
        let isNumbered = !numbers.contains(nil) && Set(numbers).count == numbers.count
        let discs = Dictionary(
            folders.indices.map { (folders[$0], isNumbered ? numbers[$0] ?? $0 + 1 : $0 + 1) }
        ) { first, _ in first }
        return audio.map { $0.path.count > 1 ? discs[$0.path[0]] : nil }
    }

    /// The picture that is called a cover, else the first one; those of the book's own page before its discs'.
    private var cover: ResourceAddress? {
        let pictures = files.filter { FileRole(ofName: $0.name) == .picture }
            .sorted { NaturalOrder.precedes($0.path, $1.path) }
        let named = pictures.first { picture in
            ["cover", "folder", "front"].contains { FileRole.bareName(picture.name).lowercased().hasPrefix($0) }
        }
        return (named ?? pictures.first)?.address
    }
}
