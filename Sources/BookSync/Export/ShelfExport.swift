import BookModel
import CatalogStore
import Foundation
import LibraryFiles
import Logging
import Settings
import Transport

// Exports books of the shelf as the user asks for it.

extension Configuration {
    /// A book, and which of its episodes.
    package typealias ExportedItem = (book: BookIdentity, filter: EpisodeFilter)

    // MARK: Into the books' folders

    /// Writes into the folders of the books; nobody else may run meanwhile. Only covers ask anybody.
    /// - Parameters:
    ///   - items: none for all books.
    ///   - force: whether files that the user made or changed are overwritten.
    ///   - wait: seconds to wait for another run to end.
    /// - Throws: ``Failure``: `temporary` when another run holds the library, `unknownBook` when there is none.
    package func exportIntoFolders(
        _ kind: ExportKind, of items: [ExportedItem], force: Bool, waitingFor wait: Double,
        knownLibraries: KnownLibraries?, logger: Logger
    ) async throws -> [ExportOutcome] {
        let items = try await existing(items)
        return try await LibrarySession.withLibrary(
            at: library, command: "export", waitingFor: wait, knownLibraries: knownLibraries
        ) { session in
            var export = BookExport(configuration: self, library: library, store: session.store)
            export.force = force
            return try await withHTTPTransport(options: transportOptions, logger: logger) { transport in
                var outcomes: [ExportOutcome] = []
                for item in items {
                    outcomes += try await export.execute([kind], of: item.book, filter: item.filter, over: transport)
                }
                return outcomes
            }
        }
    }

    // MARK: Elsewhere

    /// What is exported of books, as the store knows them.
    /// - Parameter items: none for all books.
    package func exportedBooks(of items: [ExportedItem]) async throws -> [ExportedBook] {
        let items = try await existing(items)
        let books = try await ShelfReader.read(library) { shelf in
            var books: [ExportedBook] = []
            for item in items {
                let book = try await ExportedBook(
                    item.book, filter: item.filter, library: library, store: shelf.store,
                    isRunUnderWay: shelf.isRunUnderWay)
                books += [book].compactMap(\.self)
            }
            return books
        }
        return books ?? []
    }

    /// - Returns: the items, or all books of the shelf where there are none.
    private func existing(_ items: [ExportedItem]) async throws -> [ExportedItem] {
        let found = try await ShelfReader.read(library) { shelf in
            let books = try await shelf.books(items.isEmpty ? nil : items.map(\.book))
            for (book, filter) in items where !filter.isEmpty {
                let episodes = try await shelf.episodes(of: book, filter: filter)
                guard !episodes.isEmpty else { throw Failure.noSuchEpisode(of: book) }
            }
            return items.isEmpty ? books.map { ($0.book.identity, EpisodeFilter()) } : items
        }
        guard let found else { throw Failure.emptyLibrary(library) }
        return found
    }
}

extension [ExportedBook] {
    /// The document of one book, or the table of several.
    /// - Parameter path: absolute; where it is to lie; nil for the book's folder.
    package func document(_ kind: ExportKind, at path: String? = nil) throws -> [UInt8] {
        if kind == .csv { return [UInt8](EpisodeTable.text(of: self).utf8) }
        guard let book = first, count == 1 else {
            throw Failure(
                .usage, what: "\(count) books do not go into one \(kind.rawValue)",
                why: "each has one of its own",
                remedy: "name one book, or a folder with --output")
        }
        return try book.document(kind, at: path ?? book.folderPath + "/" + (kind.fileName(for: book.book) ?? ""))
    }

    /// Writes to where the user says: a file, for one book or a table of several; or a folder, in which each book
    /// has a folder as in the library.
    /// - Parameter output: a path; relative to the current folder.
    /// - Returns: the absolute paths, and whether each was written or was the same already.
    package func write(
        _ kind: ExportKind, to output: String
    ) async throws -> [(path: String, isWritten: Bool)] {
        let output = URL(filePath: output).standardizedFileURL.path(percentEncoded: false)
        return try await runBlocking {
            let goesIntoFolder = output.hasSuffix("/") || isFolder(at: output)
            let target = output.hasSuffix("/") ? String(output.dropLast()) : output
            if !goesIntoFolder, kind == .csv || count == 1 {
                return [(target, try ExportDisk.write(try document(kind, at: target), to: target))]
            }
            var written: [(path: String, isWritten: Bool)] = []
            var taken: Set<SafeName.ComparisonKey> = []
            for book in self {
                guard let name = kind.fileName(for: book.book) else { continue }
                let folder = count == 1 ? target : target + "/" + book.ownFolder
                try makeExportFolder(folder)
                var path = folder + "/" + name
                // Two books of one title in one folder.
                if !taken.insert(SafeName.comparisonKey(path)).inserted {
                    path = folder + "/" + SafeName.component(SafeName.text("\(book.book.identity.id) \(name)"))
                }
                written.append((path, try ExportDisk.write(try book.document(kind, at: path), to: path)))
            }
            return written
        }
    }
}

private func makeExportFolder(_ path: String) throws {
    do {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
        throw Failure(
            .inputOutput, what: "the folder \(path) cannot be made",
            why: Message(cause: error),
            remedy: "name another one with --output")
    }
}

extension ExportedBook {
    /// The folder to have elsewhere: as in the library, or called after the book.
    fileprivate var ownFolder: String {
        if let folder, !folder.isEmpty { return folder }
        let name = SafeName.component(SafeName.text(book.title))
        return name.isEmpty ? SafeName.component(SafeName.text(book.identity.id)) : name
    }
}
