import BookModel
import CatalogStore
import Crypto
import Foundation
import LibraryFiles

/// What a book is joined of, as the store has it: no file is read for it.
struct JoinPlan: Sendable {
    /// To be raised when the same episodes become another file.
    private static let revision = "1"

    let book: Book
    /// Those on disk, in their order.
    private(set) var files: [LocalFile]
    /// Of the episodes that the files are of.
    private(set) var names: [String]
    /// Those that are neither on disk nor removed.
    let missing: [Episode]
    let tags: EmbeddedTags
    /// The files' path up to their numbers; relative to the library where it is in there.
    let stem: String
    /// Of all that was joined of the book before, in whatever way.
    let recorded: [JoinedFile]
    /// The options, and the tags with the cover.
    private let (how, described): ([String], [String])

    init(of book: Book, _ request: JoinRequest, in library: String, store: CatalogStore) async throws {
        let listed = try await store.episodes(of: book.identity).filter { $0.removedAt == nil }
        self.book = book
        files = listed.compactMap(\.file)
        names = listed.filter { $0.file != nil }.map(\.episode.name)
        missing = listed.filter { $0.file == nil && !$0.isGone }.map(\.episode)
        recorded = try await store.joinedFiles(of: book.identity)
        let covers = try await store.exportedFiles(of: book.identity, kind: "cover")
        let cover = try await runBlocking {
            covers.first { file in
                [".jpg", ".jpeg", ".png"].contains(where: file.path.hasSuffix)
                    && fileSize(library + "/" + file.path) != nil
            }
        }
        var tags = EmbeddedTags(of: book)
        tags.tags["title"] = book.title
        tags.cover = cover.map { library + "/" + $0.path }
        self.tags = tags
        func name(_ text: String?) -> String {
            SafeName.component(SafeName.cut(SafeName.text(text ?? ""), toBytes: 220))
        }
        let folder = request.output ?? "\(library)/\(LibraryFolder.joinedPath)\(name(book.author))"
        let title = name(book.title).isEmpty ? name(book.identity.id) : name(book.title)
        let stem = "\(folder.hasSuffix("/") ? folder : folder + "/")\(title)"
        self.stem = stem.hasPrefix(library + "/") ? String(stem.dropFirst(library.count + 1)) : stem
        how =
            [request.format.rawValue]
            + [request.bitRate.map(Double.init), request.maxPart, request.loudness].map { "\($0 ?? 0)" }
        described = tags.tags.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] } + [cover?.sha256 ?? ""]
    }

    /// Tells whether what was made is what would be made, and behind a blank, whether it is of the same episodes, whatever the
    /// options were. Earlier releases recorded the first alone.
    var madeOf: String { "\(digest(of: [stem] + how)) \(content)" }

    private var content: String { digest(of: []) }

    private func digest(of options: [String]) -> String {
        let all = [Self.revision] + options + described + files.map(\.fetchedSHA256) + names
        return SHA256.hash(data: Data(all.joined(separator: "\0").utf8)).hexadecimal
    }

    /// - Parameter left: of the files.
    func without(_ left: Set<Int>) -> JoinPlan {
        var plan = self
        plan.files = files.enumerated().filter { !left.contains($0.offset) }.map(\.element)
        plan.names = names.enumerated().filter { !left.contains($0.offset) }.map(\.element)
        return plan
    }

    /// The files that would be made, where they are there as they were made; nil where one is not. Blocks on the disk.
    func upToDate(in library: String) -> [JoinedFile]? {
        let digest = digest(of: [stem] + how)
        let made = recorded.filter { $0.madeOf.hasPrefix(digest) && $0.path.hasPrefix(stem) }
        return made.isEmpty || !made.allSatisfy { $0.isUntouched(in: library) } ? nil : made
    }

    /// The files that are there as they were made, of the same episodes, with whatever options. Blocks on the disk.
    func ofSameEpisodes(in library: String) -> [JoinedFile] {
        let made = recorded.filter { $0.madeOf.hasSuffix(" \(content)") && $0.path.hasPrefix(stem) }
        return Dictionary(grouping: made, by: \.madeOf).values
            .filter { $0.allSatisfy { $0.isUntouched(in: library) } }.joined().sorted { $0.path < $1.path }
    }

    /// Where the files go.
    func paths(_ count: Int, as format: JoinFormat) -> [String] {
        let digits = "\(count)".count
        return (1...count).map { number in
            let padded = String(repeating: "0", count: digits - "\(number)".count) + "\(number)"
            let suffix = count == 1 ? "" : " (\(padded) of \(count))"
            return "\(stem)\(suffix).\(format.rawValue)"
        }
    }

    /// One chapter for each episode, or those that it has itself.
    /// - Parameters:
    ///   - parts: of the range of the episodes.
    ///   - originals: of all episodes, with their own chapters.
    func chapters(_ range: Range<Int>, _ parts: [AudioPart], own originals: [AudioPart]) -> [MediaInfo.Chapter] {
        var chapters: [MediaInfo.Chapter] = []
        var start = 0.0
        for (index, part) in zip(range, parts) {
            let (name, end) = (names[index], start + part.seconds)
            let inside = originals[index].info.chapters.filter { start + $0.start < end }
            let titles = inside.count < 2 ? [name] : inside.map { $0.title.map { "\(name): \($0)" } ?? name }
            for (number, title) in titles.enumerated() {
                // What is before the first belongs to it.
                let begin = number == 0 ? start : start + inside[number].start
                let next = number + 1 < titles.count ? start + inside[number + 1].start : end
                chapters.append(.init(start: begin, end: next, title: title))
            }
            start = end
        }
        return chapters
    }
}

extension JoinedFile {
    func absolutePath(in library: String) -> String { path.hasPrefix("/") ? path : library + "/" + path }

    /// Whether the file at its path is the one that was recorded. Blocks on the disk.
    func isUntouched(in library: String) -> Bool {
        fileAttributes(absolutePath(in: library)).map(isSame) ?? false
    }

    func isSame(as facts: FileAttributes) -> Bool { facts.size == size && facts.modificationTime == modificationTime }
}
