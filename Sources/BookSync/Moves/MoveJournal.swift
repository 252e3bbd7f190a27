import BookModel
import CatalogStore
import Foundation
import LibraryFiles

/// That a book is being handed over from one library to another, written in both from before the first file is placed until
/// the last one is taken away.
///
/// What decides is whether the new library's store has the book. Until then the old one has it whole, and what was placed is
/// taken away again; from then on the new one has it whole, and the old one lets go of the rest.
package struct MoveJournal: Codable, Sendable, Hashable {
    package let source: String
    package let key: String
    /// Absolute paths of the libraries.
    package let from: String
    package let to: String
    /// Of the files that are handed over; relative to either library.
    package let paths: [String]
    /// Whether there is more to it than a subscription, which the new library may get by itself meanwhile.
    package let isListed: Bool

    package init(_ book: BookIdentity, from: String, to: String, paths: [String], isListed: Bool) {
        (source, key, self.from, self.to, self.paths) = (book.source, book.id, from, to, paths)
        self.isListed = isListed
    }

    /// Whether the new library has the book, by its store.
    func isRecorded(in store: CatalogStore) async throws -> Bool {
        if isListed { return try await store.book(book) != nil }
        return try await !store.known(among: [book]).isEmpty
    }

    package var book: BookIdentity { BookIdentity(source: source, id: key) }

    /// Which of the two libraries the journal is in.
    package enum Side: String, Sendable {
        case from, to
    }

    private static let folder = ".booksync/moves"

    private func name(_ side: Side) -> String {
        "\(side.rawValue)-\(Slug(of: source))-\(Slug(of: key)).json"
    }

    private func library(_ side: Side) -> String { side == .from ? from : to }

    /// On disk when the call returns. Blocks.
    package func write(_ side: Side) throws {
        let library = library(side)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let bytes = Array(try encoder.encode(self))
        // Makes the folder, and syncs that it is there.
        _ = try LibraryDirectory(Self.folder[...], in: library)
        let path = "\(library)/\(Self.folder)/\(name(side))"
        do {
            try replaceFile(at: path, with: bytes)
        } catch {
            throw Failure.file("\(path) cannot be written", errno: error.code)
        }
    }

    /// Blocks on the disk.
    /// - Parameter library: where it is now; nil for where it was.
    package func delete(_ side: Side, in library: String? = nil) throws {
        let directory = try LibraryDirectory(Self.folder[...], in: library ?? self.library(side))
        try directory.delete(name(side))
        try directory.sync()
    }

    /// The moves that a library takes part in. Blocks on the disk.
    /// - Throws: ``Failure`` of kind `inputOutput` for one that cannot be read.
    static func all(in library: String) throws -> [(side: Side, journal: MoveJournal)] {
        let folder = "\(library)/\(folder)"
        guard fileAttributes(folder) != nil else { return [] }
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().compactMap {
                name in
                guard name.hasSuffix(".json"), let side = Side(rawValue: String(name.prefix { $0 != "-" }))
                else {
                    return nil
                }
                let data = try Data(contentsOf: URL(filePath: folder + "/" + name))
                return (side, try JSONDecoder().decode(MoveJournal.self, from: data))
            }
        } catch {
            throw Failure(
                .inputOutput, disposition: .stop,
                what: "a move of a book between libraries cannot be settled",
                why: "\(folder): \(Message(cause: error))", remedy: "put the folder back from a backup")
        }
    }

    /// Takes the files of the book away from one library that the other one has: a file that differs there, or is missing, stays.
    /// Blocks on the disk.
    package func removeFiles(from library: String, thatAreIn other: String, except kept: Set<String> = []) throws {
        var folders: Set<Substring> = []
        for path in paths where !kept.contains(path) {
            guard let here = fileAttributes("\(library)/\(path)"), here.kind == .file,
                let there = fileAttributes("\(other)/\(path)"), there.kind == .file, here.size == there.size,
                // A copy has the times of its original, as finely as its filesystem keeps them.
                abs(Double(here.modificationTime) - Double(there.modificationTime)) <= 2_000_000_000
            else { continue }
            let (folder, name) = splitLibraryPath(path)
            try LibraryDirectory(folder, in: library, creating: false).delete(name)
            if !path.hasPrefix(".booksync/") { folders.insert(folder) }
        }
        // On disk before the journal goes.
        for folder in folders { try LibraryDirectory(folder, in: library, creating: false).sync() }
        for folder in folders.sorted(by: >) { try removeEmptyFolders(folder, in: library) }
    }
}
