import BookModel
import CatalogStore
import Crypto
import Foundation
import LibraryFiles
import LibraryMedia
import MediaProbe
import ShelfQueries

/// What a book is joined of, as the store has it: no file is read for it.
struct JoinPlan: Sendable {
    /// To be raised when the same episodes become another file.
    private static let revision = "1"

    let book: Book
    /// Those on disk, in their order.
    let episodes: [(episode: Episode, file: LocalFile)]
    /// Those that are neither on disk nor removed.
    let missing: [Episode]
    let tags: EmbeddedTags
    /// The files' path up to their numbers; relative to the library where it is in there.
    let stem: String
    /// Of all that was joined of the book before, in whatever way.
    let recorded: [JoinedFile]
    /// Tells whether what was made is what would be made.
    let madeOf: String

    /// - Throws: ``Failure`` where the book is not on the shelf.
    init(of identity: BookIdentity, _ request: JoinRequest, in library: String, store: CatalogStore) async throws {
        guard let book = try await store.book(identity) else { throw Failure.notOnTheShelf(identity) }
        let listed = try await store.episodes(of: identity).filter { $0.removedAt == nil }
        self.book = book
        episodes = listed.compactMap { one in one.file.map { (one.episode, $0) } }
        missing = listed.filter { $0.file == nil && !$0.isGone }.map(\.episode)
        recorded = try await store.joinedFiles(of: identity)
        let covers = try await store.exportedFiles(of: identity, kind: "cover").filter { file in
            [".jpg", ".jpeg", ".png"].contains(where: file.path.hasSuffix)
                && fileSize(library + "/" + file.path) != nil
        }
        var tags = EmbeddedTags(of: book)
        tags.tags["title"] = book.title
        tags.cover = covers.first.map { library + "/" + $0.path }
        self.tags = tags
        func name(_ text: String?) -> String? {
            let name = SafeName.component(SafeName.cut(SafeName.text(text ?? ""), toBytes: 220))
            return name.isEmpty ? nil : name
        }
        let title = name(book.title) ?? name(identity.id) ?? "book"
        let folder = request.output ?? LibraryFolder.joinedPath + (name(book.author) ?? "")
        let stem = (folder.hasSuffix("/") ? folder : folder + "/") + title
        self.stem = stem.hasPrefix(library + "/") ? String(stem.dropFirst(library.count + 1)) : stem
        let how =
            [request.format.rawValue]
            + [request.bitRate.map(Double.init), request.maxPart, request.loudness].map { "\($0 ?? 0)" }
        let what = episodes.flatMap { [$0.file.sha256, $0.episode.name] }
        let told = tags.tags.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] } + covers.prefix(1).map(\.sha256)
        madeOf =
            SHA256.hash(data: Data(([Self.revision, stem] + how + what + told).joined(separator: "\0").utf8))
            .hexadecimal
    }

    /// The files that would be made, where they are there as they were made; nil where one is not.
    func upToDate(in library: String) -> [JoinedFile]? {
        let made = recorded.filter { $0.madeOf == madeOf && $0.path.hasPrefix(stem) }
        return made.isEmpty || !made.allSatisfy { $0.isUntouched(in: library) } ? nil : made
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
    ///   - parts: those of the range of the episodes.
    ///   - own: the episodes' own, by index.
    func chapters(_ range: Range<Int>, _ parts: [AudioPart], own: [[MediaInfo.Chapter]]) -> [MediaInfo.Chapter] {
        var chapters: [MediaInfo.Chapter] = []
        var start = 0.0
        for index in range {
            let (name, end) = (episodes[index].episode.name, start + parts[index].seconds)
            let inside = own[index].filter { start + $0.start < end }
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
