import AudioFiles
import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles
import Logging
import Settings
import Transport

/// Writes what players and servers read into the folders of the books.
///
/// A file is written only when it would change. One that booksync did not write, or that somebody changed since, is left
/// as it is and told of, unless `force` says otherwise: what is written is recorded with its digest, before it is
/// written. What was exported to a folder that the book has left is deleted there, if it is booksync's own still.
package struct BookExport: Sendable {
    let configuration: Configuration
    let library: String
    let store: CatalogStore
    /// Overwrites files of the user's.
    var force = false
    /// The addresses that catalogs gave in this run, with their secrets; the store has them without.
    var covers: [BookIdentity: ResourceAddress] = [:]

    /// - Parameter transport: for covers; nil where none are wanted.
    func execute(
        _ kinds: [ExportKind], of book: BookIdentity, filter: EpisodeFilter = .init(), over transport: HTTPTransport?
    ) async throws -> [ExportOutcome] {
        // A cover is of the book: its episodes, of which there may be thousands, are not read each night.
        let filter = kinds == [.cover] ? nil : filter
        guard let exported = try await ExportedBook(book, filter: filter, library: library, store: store) else {
            throw Failure.notOnTheShelf(book)
        }
        var outcomes: [ExportOutcome] = []
        // The feed names the cover, so that comes first.
        for kind in kinds.sorted(by: { $0 == .cover && $1 != .cover }) {
            try Task.checkCancellation()
            var outcome = ExportOutcome(book: book, kind: kind, path: nil, result: .unchanged)
            do {
                guard let folder = exported.folder else {
                    try await clearOld(kind, of: book, but: nil)
                    outcome.result = .nothing(why: "nothing of \(book) is on disk")
                    outcomes.append(outcome)
                    continue
                }
                if kind == .cover {
                    try await writeCover(of: exported, in: folder, transport, &outcome)
                } else if let name = kind.fileName(for: exported.book) {
                    let path = folder.isEmpty ? name : folder + "/" + name
                    let cover = try await coverPath(of: exported)
                    let bytes = try exported.document(kind, at: library + "/" + path, cover: cover)
                    try await write(bytes, to: path, &outcome)
                }
            } catch let silence as CoverPicture.Silence {
                (outcome.result, outcome.isUnanswered) = (.failed(silence.failure), true)
            } catch let failure as Failure where failure.disposition != .stop {
                outcome.result = .failed(failure)
            }
            outcomes.append(outcome)
        }
        return outcomes
    }

    // MARK: Files

    private func write(
        _ bytes: [UInt8], to path: String, origin: String? = nil, _ outcome: inout ExportOutcome
    ) async throws {
        outcome.path = path
        let digest = ExportDisk.digest(of: bytes)
        let existing = try await runBlocking { try ExportDisk.existingFile(at: library + "/" + path) }
        let recorded = try await store.exportedFile(at: path)
        if let recorded, recorded.book != outcome.book, existing != .nothing, !force {
            outcome.result = .left(
                left(path, why: "it is \(recorded.book)'s, which shares the folder", remedy: "give each book a folder"))
            return
        }
        var previous: String?
        switch existing {
        case .nothing: break
        case .other:
            outcome.result = .left(left(path, why: "a folder or a link stands there", remedy: "move it away"))
            return
        case .file(digest):
            if recorded?.sha256 != digest || recorded?.origin != origin {
                try await record(path, outcome, digest, previous: nil, origin: origin)
            }
            outcome.result = .unchanged
            return
        case .file(let present):
            guard force || recorded?.wrote(present) == true else {
                let why: Message =
                    recorded == nil ? "booksync did not write it" : "it was changed since booksync wrote it"
                outcome.result = .left(
                    left(path, why: why, remedy: "delete it, or run booksync export --force to overwrite it"))
                return
            }
            previous = present
        }
        try await record(path, outcome, digest, previous: previous, origin: origin)
        let replaces = existing != .nothing
        try await runBlocking { try ExportDisk.write(bytes, to: path, in: library, replaces: replaces) }
        outcome.result = .written
        try await clearOld(outcome.kind, of: outcome.book, but: path)
    }

    private func record(
        _ path: String, _ outcome: ExportOutcome, _ digest: String, previous: String?, origin: String?
    ) async throws {
        try await store.recordExport(
            ExportedFile(
                path: path, book: outcome.book, kind: outcome.kind.rawValue, sha256: digest, previous: previous,
                origin: origin))
    }

    private func left(_ path: String, why: Message, remedy: Message) -> Failure {
        Failure(.temporary, what: "\(path) is left as it is", why: why, remedy: remedy)
    }

    /// Deletes what was written of this kind elsewhere, before the book changed its folder or its title.
    /// - Parameter path: what stays; nil where the book has no folder any more.
    private func clearOld(_ kind: ExportKind, of book: BookIdentity, but path: String?) async throws {
        for old in try await store.exportedFiles(of: book, kind: kind.rawValue) where old.path != path {
            try await runBlocking {
                guard case .file(let present) = try ExportDisk.existingFile(at: library + "/" + old.path),
                    old.wrote(present)
                else { return }
                let (folder, name) = splitLibraryPath(old.path)
                try LibraryDirectory(folder, in: library, creating: false).delete(name)
                try removeEmptyFolders(folder, in: library)
            }
            try await store.forgetExport(at: old.path)
        }
    }

    // MARK: Covers

    /// Asks for the picture only where it is not there yet, or the catalog names another one now.
    private func writeCover(
        of exported: ExportedBook, in folder: String, _ transport: HTTPTransport?, _ outcome: inout ExportOutcome
    ) async throws {
        let book = exported.book.identity
        if !force, let (path, why) = try await othersCover(than: book, in: folder) {
            outcome.path = path
            outcome.result = .left(
                left(path, why: why, remedy: "run booksync export cover --force to replace it"))
            return await SmallCover.make(of: path, in: library)
        }
        guard let address = covers[book] ?? exported.book.cover, let transport else {
            outcome.result = .nothing(why: "the catalog names no cover of \(book)")
            return
        }
        let origin = address.withoutSecrets
        if let present = try await coverFile(of: book, in: folder), present.origin == origin, !force {
            outcome.path = present.path
            return await SmallCover.make(of: present.path, in: library)
        }
        guard !address.isMasked else {
            throw Failure(
                .catalogUnavailable, what: "the cover of \(book) cannot be had",
                why: "its address has secrets in it, which are not kept",
                remedy: "add cover to downloads.export in the configuration, and run booksync fetch")
        }
        let picture = try await CoverPicture.fetch(
            address, of: book, over: transport.using(configuration.access(of: book)))
        let path = (folder.isEmpty ? "" : folder + "/") + "cover." + picture.fileExtension
        try await write(picture.bytes, to: path, origin: origin, &outcome)
        await SmallCover.make(of: path, in: library)
    }

    /// What is recorded of the book's cover, if that is there still.
    private func coverFile(of book: BookIdentity, in folder: String) async throws -> ExportedFile? {
        for file in try await store.exportedFiles(of: book, kind: ExportKind.cover.rawValue)
        where splitLibraryPath(file.path).folder == folder {
            let existing = try await runBlocking { try ExportDisk.existingFile(at: library + "/" + file.path) }
            if case .file = existing { return file }
        }
        return nil
    }

    /// A cover in the folder that is not the book's own: the user's, or that of a book that shares the folder.
    /// - Returns: its path, relative to the library, and why it is left.
    private func othersCover(than book: BookIdentity, in folder: String) async throws -> (path: String, why: Message)? {
        for path in CoverPicture.paths(in: folder) {
            guard
                case .file(let digest) = try await runBlocking({ try ExportDisk.existingFile(at: library + "/" + path) }
                )
            else { continue }
            let recorded = try await store.exportedFile(at: path)
            if let recorded, recorded.book != book {
                return (path, "it is \(recorded.book)'s, which shares the folder")
            }
            if recorded?.wrote(digest) != true {
                return (path, recorded == nil ? "booksync did not write it" : "it was changed since booksync wrote it")
            }
        }
        return nil
    }

    /// Absolute; nil where no cover was exported.
    func coverPath(of exported: ExportedBook) async throws -> String? {
        guard let folder = exported.folder else { return nil }
        return try await coverFile(of: exported.book.identity, in: folder).map { library + "/" + $0.path }
    }
}
