import AudioFiles
import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles
import Settings

/// Hands a book over from one library to another, with its files, partial ones included, and all that is recorded of it. Nothing
/// is fetched.
///
/// Each file is placed beside the old one first, then the new store takes the records over in one transaction, and only then the
/// old library lets go: whenever it is stopped, one of the two has the book whole. The next run in either library finishes it
/// or takes it back (``MoveJournal``).
package struct BookMove: Sendable {
    /// What has been done, in this order.
    package enum Step: String, Sendable, CaseIterable {
        case announced, placed, recorded, released, removed
    }

    /// What is, or would be, handed over.
    package struct Report: Sendable {
        package var files = 0
        package var bytes: Int64 = 0
        /// Whether the book was where it is to go before.
        package var isThere = false

        package init(isThere: Bool = false) { self.isThere = isThere }
    }

    package let book: BookIdentity
    package let from: LibraryPlace
    package let to: LibraryPlace
    private let minFreeSpace: Int64
    private let knownLibraries: KnownLibraries?

    package init(
        _ book: BookIdentity, from: LibraryPlace, to: LibraryPlace, minFreeSpace: Int64,
        knownLibraries: KnownLibraries?
    ) {
        (self.book, self.from, self.to) = (book, from, to)
        (self.minFreeSpace, self.knownLibraries) = (minFreeSpace, knownLibraries)
    }

    /// Finds out what would be handed over, and what is in the way. Changes nothing.
    package func plan() async throws -> Report {
        for place in [from, to] { try await knownLibraries?.requireMounted(place.path) }
        let isThere = try await ShelfReader.read(to.path) {
            try await !$0.store.known(among: [book]).isEmpty
        }
        let found = try await ShelfReader.read(from.path) { shelf -> [String]? in
            let known = try await shelf.store.known(among: [book])
            return known.isEmpty ? nil : try await self.paths(in: shelf.store)
        }
        return try await checked(found ?? nil, isThere: isThere == true)
    }

    /// - Parameters:
    ///   - wait: seconds to wait for runs to end that hold one of the libraries.
    ///   - onStep: is told of each step that is done; what it throws stops the move there.
    /// - Throws: ``Failure``; `CancellationError`. The next run in either library finishes it or takes it back.
    package func execute(
        waitingFor wait: Double = 0, onStep: @Sendable (Step) throws -> Void = { _ in }
    ) async throws -> Report {
        // Opening the library would make one where there is none.
        _ = try await LibraryFolder.requireStore(in: from.path)
        // Whoever moves a book the other way takes the locks in the same order.
        let inOrder = [from, to].sorted { $0.path < $1.path }
        return try await LibrarySession.withLibrary(
            at: inOrder[0].path, command: "move", waitingFor: wait, knownLibraries: knownLibraries
        ) { first in
            try await LibrarySession.withLibrary(
                at: inOrder[1].path, command: "move", waitingFor: wait, knownLibraries: knownLibraries
            ) { second in
                let isForward = inOrder[0] == from
                return try await move(
                    from: isForward ? first : second, to: isForward ? second : first, onStep: onStep)
            }
        }
    }

    private func move(
        from source: LibrarySession, to target: LibrarySession, onStep: @Sendable (Step) throws -> Void
    ) async throws -> Report {
        let isThere = try await !target.store.known(among: [book]).isEmpty
        let rows = try await source.store.rows(of: book)
        let paths = rows == nil ? nil : try await paths(in: source.store)
        let report = try await checked(paths, isThere: isThere)
        guard let rows, let paths, !report.isThere else { return report }
        let journal = MoveJournal(
            book, from: source.folder.path, to: target.folder.path, paths: paths,
            isListed: try await source.store.book(book) != nil)
        try await runBlocking {
            try journal.write(.from)
            try journal.write(.to)
        }
        try onStep(.announced)
        let files = try await place(journal, knownTo: source.store)
        try onStep(.placed)
        // Read again: what users did meanwhile goes along.
        try await target.store.adopt(
            try await source.store.rows(of: book) ?? rows, of: book, files: files)
        let (old, new) = (AddressFile(of: book, in: from.path), AddressFile(of: book, in: to.path))
        if let address = old.address { try new.record(address) }
        // Where others read a copy, they are to find the book in one library at least.
        try await StoreCopy(of: target.folder).publish(target.store)
        try onStep(.recorded)
        try await source.store.release(book)
        try onStep(.released)
        try await runBlocking { try journal.removeFiles(from: journal.from, thatAreIn: journal.to) }
        old.delete()
        try onStep(.removed)
        try await runBlocking {
            try journal.delete(.to)
            try journal.delete(.from)
        }
        return report
    }

    /// - Returns: by their paths, what the copies look like whose records said what the old files look like.
    private func place(
        _ journal: MoveJournal, knownTo store: CatalogStore
    ) async throws -> [String: FileAttributes] {
        let known = Dictionary(
            try await store.episodes(of: book).compactMap(\.file).map { ($0.path, $0) }
        ) { first, _ in first }
        var placed: [String: FileAttributes] = [:]
        for path in journal.paths {
            try Task.checkCancellation()
            let facts = try await runBlocking {
                let old = fileAttributes("\(journal.from)/\(path)")
                // What the user deleted is missing in the new library as well.
                guard let old, old.kind == .file else { return FileAttributes?.none }
                let isPartial = path.hasPrefix(LibraryFolder.partialPath)
                let new = try handOver(path, from: journal.from, to: journal.to, replaces: isPartial)
                // What was written to since it was recorded shows it by its time.
                let isRecorded = known[path].map { $0.size == old.size && $0.modificationTime == old.modificationTime }
                return isRecorded == true ? new : nil
            }
            placed[path] = facts
        }
        let folders = Set(journal.paths.map { splitLibraryPath($0).folder })
        try await runBlocking {
            for folder in folders { try LibraryDirectory(folder, in: journal.to).sync() }
        }
        return placed
    }

    /// What lies in the library for the book, relative to it.
    private func paths(in store: CatalogStore) async throws -> [String] {
        let episodes = try await store.episodes(of: book)
        let trashed = try await store.trashedFiles(of: book)
        var paths = episodes.compactMap(\.file?.path) + trashed.map(\.to)
        paths += (episodes.compactMap(\.file) + trashed.map(\.file)).compactMap(FileTagging.originalPath)
        for kind in ExportKind.allCases {
            paths += try await store.exportedFiles(of: book, kind: kind.rawValue).map(\.path)
        }
        paths += try await store.joinedFiles(of: book).map(\.path).filter { !$0.hasPrefix("/") }
        let owners = Set(episodes.map { PartialFile.name(for: $0.episode.identity) })
        let folder = LibraryFolder.existing(at: from.path).partialFolder
        let names = try await runBlocking {
            fileAttributes(folder) == nil
                ? [] : try FileManager.default.contentsOfDirectory(atPath: folder)
        }
        paths += names.filter(owners.contains).sorted().map { "\(LibraryFolder.partialPath)/\($0)" }
        var seen: Set<String> = []
        return paths.filter { seen.insert($0).inserted }
    }

    /// - Parameter paths: nil where the old library does not have the book.
    private func checked(_ paths: [String]?, isThere: Bool) async throws -> Report {
        guard let paths else {
            if isThere { return Report(isThere: true) }
            throw Failure.notOnTheShelf(book)
        }
        guard !isThere else {
            throw refusal(
                "the libraries '\(from.name)' and '\(to.name)' both have it",
                "unsubscribe or remove it in one")
        }
        let (report, occupied, needsNoRoom) = try await runBlocking {
            var (report, occupied) = (Report(), String?.none)
            for path in paths {
                guard let facts = fileAttributes("\(from.path)/\(path)"), facts.kind == .file else {
                    continue
                }
                report.files += 1
                report.bytes.addSaturated(facts.size)
                let there = fileAttributes("\(to.path)/\(path)")
                if there != nil, there?.inode != facts.inode, !path.hasPrefix(LibraryFolder.partialPath) {
                    occupied = occupied ?? path
                }
            }
            return (
                report, occupied, try isOneFilesystem(from.path, to.path) || fileAttributes(to.path) == nil
            )
        }
        if let occupied {
            throw refusal("a file stands at \(to.path)/\(occupied)", "move it away and run again")
        }
        guard !needsNoRoom else { return report }
        let space = try await LibraryFolder.existing(at: to.path).space()
        if let missing = space.missing(for: report.bytes, leaving: minFreeSpace) {
            throw refusal(
                "\(describeBytes(missing)) are missing on the disk of '\(to.name)'",
                "make room and run again",
                .inputOutput)
        }
        return report
    }

    private func refusal(_ why: Message, _ remedy: Message, _ kind: Failure.Kind = .temporary)
        -> Failure
    {
        Failure(
            kind, disposition: .skip, what: "\(book) is not moved to '\(to.name)'", why: why, remedy: remedy)
    }
}
