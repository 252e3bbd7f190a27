import BookModel
import CatalogStore
import Foundation
import LibraryFiles
import Settings
import Support
import Testing

@testable import BookSync

/// Books that are handed over between two libraries, of the library that a killed run of the last schema left: with files, begun
/// downloads, failures, removed episodes and positions.
@Suite(.full, .limitedConcurrency) struct BookMoveTests {
    private struct Stop: Error {}

    private struct Stage {
        let from: LibraryPlace
        let to: LibraryPlace

        func move(_ book: BookIdentity) -> BookMove {
            BookMove(book, from: from, to: to, minFreeSpace: 0, knownLibraries: nil)
        }
    }

    /// What is known of a book in a library, and lies there of it.
    private struct Whole: Equatable {
        var book: BookSummary?
        var episodes: [EpisodeRecord] = []
        var positions: [EpisodeIdentity: ListeningPosition] = [:]
        var notes: [String] = []
        var subscription: Subscription?
        var trashed: [String] = []
        /// SHA-256 of all files, by their paths.
        var files: [String: String] = [:]

        /// Files have other inodes where they were unpacked, or copied, than where they were recorded.
        static func == (one: Whole, other: Whole) -> Bool {
            one.book == other.book && one.withoutInodes == other.withoutInodes && one.positions == other.positions
                && one.notes == other.notes && one.subscription == other.subscription && one.trashed == other.trashed
                && one.files == other.files
        }

        private var withoutInodes: [EpisodeRecord] {
            episodes.map { record in
                var record = record
                record.file?.inode = 0
                return record
            }
        }
    }

    private func whole(_ book: BookIdentity, in place: LibraryPlace) async throws -> Whole? {
        let known = try await ShelfReader.read(place.path) { shelf -> Whole? in
            let store = shelf.store
            guard try await !store.known(among: [book]).isEmpty else { return nil }
            return Whole(
                book: try await store.books([book]).first, episodes: try await store.episodes(of: book),
                positions: try await store.positions(of: book),
                notes: try await store.bookmarks(of: book, for: User.owner.id).map(\.note),
                subscription: try await store.subscriptions().first { $0.book == book },
                trashed: try await store.trashedFiles(of: book).map(\.to))
        }
        guard var whole = known ?? nil else { return nil }
        for path in whole.episodes.compactMap(\.file?.path) + whole.trashed {
            if fileAttributes("\(place.path)/\(path)") == nil { continue }
            whole.files[path] = try sha256(ofFileAt: "\(place.path)/\(path)")
        }
        return whole
    }

    /// Names of partial files, and of files beside `.booksync`.
    private func leftovers(of before: Whole, in place: LibraryPlace) -> [String] {
        before.files.keys.filter { fileAttributes("\(place.path)/\($0)") != nil }.sorted()
    }

    private func withStage(_ body: (Stage) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            _ = try await RecordedLibrary.killed.unpack(into: folder)
            let home = LibraryPlace(name: "home", path: folder.appending(path: "L").path, number: 0)
            let attic = LibraryPlace(name: "attic", path: folder.appending(path: "A").path, number: 1)
            // What the killed run left is settled, as by any run.
            try await LibrarySession.withLibrary(at: home.path, command: "test") { session in
                let book = BookIdentity(source: "cat", id: "30")
                let episode = try #require(try await session.store.episodes(of: book).first?.episode.identity)
                _ = try await session.store.add(
                    Bookmark(id: 0, episode: episode, seconds: 3, note: "here", createdAt: .now), for: User.owner.id)
            }
            try await body(Stage(from: home, to: attic))
        }
    }

    private let books = ["10", "20", "30", "40"].map { BookIdentity(source: "cat", id: $0) }

    @Test func `a book arrives with its files, begun downloads, positions, bookmarks, removals and subscription`()
        async throws
    {
        try await withStage { stage in
            for book in books {
                let before = try #require(try await whole(book, in: stage.from))
                let partials = try FileManager.default
                    .contentsOfDirectory(atPath: stage.from.path + "/.booksync/partial").count
                let report = try await stage.move(book).execute()
                #expect(report.files >= before.files.count && !report.isThere)
                let after = try #require(try await whole(book, in: stage.to))
                #expect(after == before, "\(book)")
                #expect(try await whole(book, in: stage.from) == nil)
                #expect(leftovers(of: before, in: stage.from) == [])
                let left = try FileManager.default
                    .contentsOfDirectory(atPath: stage.from.path + "/.booksync/partial").count
                let come = try FileManager.default
                    .contentsOfDirectory(atPath: stage.to.path + "/.booksync/partial").count
                #expect(book.id == "40" ? come > 0 && left < partials : true)
            }
            for place in [stage.from, stage.to] {
                let store = try await CatalogStore(path: place.path + "/.booksync/store.sqlite", access: .readOnly)
                try await store.closing { try await store.check() }
            }
        }
    }

    @Test(arguments: BookMove.Step.allCases, [true, false])
    func `a move that stops anywhere leaves the book whole in one library, and the next run in either settles it`(
        step: BookMove.Step, beginsWithOldOne: Bool
    ) async throws {
        try await withStage { stage in
            let book = books[2]
            let before = try #require(try await whole(book, in: stage.from))
            await #expect(throws: Stop.self) {
                _ = try await stage.move(book).execute { if $0 == step { throw Stop() } }
            }
            let stopped = [try await whole(book, in: stage.from), try await whole(book, in: stage.to)]
            #expect(stopped.contains { $0 == before }, "\(step)")
            let isDone = step != .announced && step != .placed
            for place in beginsWithOldOne ? [stage.from, stage.to] : [stage.to, stage.from] {
                try await LibrarySession.withLibrary(at: place.path, command: "test") { _ in }
                // Of the other one nothing may be asked for long.
                #expect(isDone || leftovers(of: before, in: stage.to) == [])
            }
            let (there, gone) = isDone ? (stage.to, stage.from) : (stage.from, stage.to)
            #expect(try await whole(book, in: there) == before)
            #expect(try await whole(book, in: gone) == nil)
            #expect(leftovers(of: before, in: gone) == [])
            for place in [stage.from, stage.to] {
                let journals = try? FileManager.default.contentsOfDirectory(atPath: place.path + "/.booksync/moves")
                #expect((journals ?? []) == [])
            }
            // And it can be asked for again.
            let again = try await stage.move(book).execute()
            #expect(again.isThere == isDone)
            #expect(try await whole(book, in: stage.to) == before)
        }
    }

    private static let other = "/dev/shm"
    private static var hasOther: Bool {
        get throws { try !isOneFilesystem(other, NSTemporaryDirectory()) }
    }

    @Test(.needs("a second filesystem") { try Self.hasOther })
    func `a copy to another filesystem is equal, and dated as the file was`() async throws {
        try await withStage { stage in
            let folder = Self.other + "/booksync-\(UUID())"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            defer { _ = Result { try FileManager.default.removeItem(atPath: folder) } }
            let away = Stage(from: stage.from, to: LibraryPlace(name: "away", path: folder + "/A", number: 1))
            let book = books[3]
            let before = try #require(try await whole(book, in: away.from))
            _ = try await away.move(book).execute()
            let after = try #require(try await whole(book, in: away.to))
            #expect(after == before)
            // The records say what the copies look like: no run reads them again.
            for file in after.episodes.compactMap(\.file) {
                guard let facts = fileAttributes("\(away.to.path)/\(file.path)") else { continue }
                #expect(file.inode == facts.inode && file.modificationTime == facts.modificationTime)
            }
            let work = try FileManager.default.contentsOfDirectory(atPath: away.to.path + "/" + LibraryFolder.workPath)
            #expect(work.isEmpty)
        }
    }

    @Test func `a file that stands in the way keeps the book where it is`() async throws {
        try await withStage { stage in
            let book = books[2]
            let before = try #require(try await whole(book, in: stage.from))
            let path = try #require(before.files.keys.sorted().first)
            try write("mine", to: "\(stage.to.path)/\(path)")
            await #expect(throws: Failure.self) { _ = try await stage.move(book).execute() }
            #expect(try await whole(book, in: stage.from) == before)
            #expect(try String(contentsOfFile: "\(stage.to.path)/\(path)", encoding: .utf8) == "mine")
        }
    }

    @Test func `a library whose other half is not mounted begins nothing, and says so`() async throws {
        try await withStage { stage in
            await #expect(throws: Stop.self) {
                _ = try await stage.move(books[2]).execute { if $0 == .recorded { throw Stop() } }
            }
            try FileManager.default.moveItem(atPath: stage.to.path, toPath: stage.to.path + "-away")
            let failure = await #expect(throws: Failure.self) {
                try await LibrarySession.withLibrary(at: stage.from.path, command: "test") { _ in }
            }
            #expect(failure?.kind == .libraryUnwritable)
            try FileManager.default.moveItem(atPath: stage.to.path + "-away", toPath: stage.to.path)
            try await LibrarySession.withLibrary(at: stage.from.path, command: "test") { _ in }
            #expect(try await whole(books[2], in: stage.from) == nil)
        }
    }
}
