import BookModel
import Crypto
import Foundation
import Logging

/// What booksync remembers outside of its libraries: that a path held one, and on which disk. Without it a library whose
/// disk is not mounted, or that was moved, would look like a place where nothing was ever fetched, and everything would be
/// fetched again.
///
/// If only the store is gone there is audio, which is recognised. A library that was deleted cannot be told from one that
/// was moved: the user says that a new one is meant, by deleting the note. Where notes cannot be kept (no home, nothing may be
/// written there) libraries are not guarded so, and everything else works.
package struct KnownLibraries: Sendable {
    /// Absolute; made with the first note.
    private let folder: String
    private let logger: Logger

    package init(folder: String, logger: Logger) {
        self.folder = folder
        self.logger = logger
    }

    /// In `libraries` below ``stateFolder(environment:)``; nil where there is none.
    package init?(environment: [String: String], logger: Logger) {
        guard let folder = Self.stateFolder(environment: environment) else { return nil }
        self.init(folder: folder + "/libraries", logger: logger)
    }

    /// Where booksync remembers what is of this user and of no library: `booksync` below `$XDG_STATE_HOME` or
    /// `$HOME/.local/state`; nil where neither is set. Need not exist.
    package static func stateFolder(environment: [String: String]) -> String? {
        // The XDG specification: a relative path is to be ignored.
        func folder(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        return (folder("XDG_STATE_HOME") ?? folder("HOME").map { $0 + "/.local/state" }).map { $0 + "/booksync" }
    }

    /// - Parameters:
    ///   - library: absolute path; need not exist.
    ///   - mayLackRecords: whether audio without booksync's folder will do, as for a run, which recognises it.
    /// - Throws: ``Failure`` of kind `libraryUnwritable` when the library that was at the path is not there now: its disk is not
    ///   mounted, or nothing is at its path; `inputOutput` when only its records are not there.
    package func requireMounted(_ library: String, mayLackRecords: Bool = true) async throws {
        let file = file(of: library)
        let found = try await runBlocking { () -> (entry: Entry, now: DiskPlace, isEmpty: Bool)? in
            // Opening the library tells what is wrong with its path.
            guard let note = FileManager.default.contents(atPath: file),
                let entry = try? JSONDecoder().decode(Entry.self, from: note),
                !FileManager.default.fileExists(atPath: LibraryFolder.existing(at: library).ownFolder),
                let now = try? DiskPlace(of: library)
            else { return nil }
            return (entry, now, !Self.hasAudio(library))
        }
        guard let (entry, now, isEmpty) = found else { return }
        guard isEmpty || entry.disk != now else {
            if mayLackRecords { return }
            throw Failure.lostStore(
                of: library,
                why: "it was a library until \(entry.seen): its audio is there, and no record of it (.booksync)")
        }
        let what: Message = "the library \(library) is not there"
        guard entry.disk != now else {
            throw Failure(
                .libraryUnwritable, disposition: .stop, what: what,
                why: "it was a library until \(entry.seen), and neither its store nor any audio is there now",
                remedy: "if it was moved, set library: in the configuration (or --library) to its new path; "
                    + "to begin a new library at this place, run: rm '\(file)'")
        }
        let isElsewhere = entry.disk.mountPoint != now.mountPoint
        throw Failure(
            .libraryUnwritable, disposition: .stop, what: what,
            why: "it was a library on \(entry.seen), on the disk at "
                + "\(entry.disk.mountPoint), and "
                + (isElsewhere ? "no disk is mounted there now" : "another disk is mounted there now"),
            remedy: "mount its disk and run again; to begin a new library at this place, run: rm '\(file)'")
    }

    /// True if audio is below the folder. What systems and services keep for themselves does not count. Blocks on the disk.
    private static func hasAudio(_ library: String) -> Bool {
        let paths = FileManager.default.enumerator(atPath: library)
        while let path = paths?.nextObject() as? String {
            if path.split(separator: "/").contains(where: { ".@#".contains($0.first ?? ".") }) { continue }
            if AudioExtension.knownMediaType(ofPath: path) != nil { return true }
        }
        return false
    }

    /// Records that a library is at its path now.
    package func remember(_ library: LibraryFolder) async {
        let file = file(of: library.path)
        do {
            try await runBlocking {
                let entry = Entry(library: library.path, seen: .now, disk: try DiskPlace(of: library.path))
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                try JSONEncoder().encode(entry).write(to: URL(filePath: file), options: .atomic)
            }
        } catch {
            logger.info("no note of the library could be kept", metadata: ["file": "\(file)", "error": "\(error)"])
        }
    }

    /// Forgets a library that is taken away again.
    package func forget(_ library: LibraryFolder) async {
        let file = file(of: library.path)
        do {
            try await runBlocking { try FileManager.default.removeItem(atPath: file) }
        } catch {
            logger.info("the note of the library stays", metadata: ["file": "\(file)", "error": "\(error)"])
        }
    }

    /// The file of the note on a library.
    package func file(of library: String) -> String {
        folder + "/" + SHA256.hash(data: Array(library.utf8)).prefix(16).hexadecimal
    }

    private struct Entry: Codable {
        let library: String
        /// When a run last opened the library.
        let seen: Date
        let disk: DiskPlace
    }
}

extension Failure {
    /// The audio of a library is there, and its store is not.
    package static func lostStore(of library: String, why: Message) -> Failure {
        Failure(
            .inputOutput, disposition: .stop, what: "the store of the library \(library) is lost", why: why,
            remedy:
                "put back a backup of it, or run booksync fetch for each book: it begins a new store and recognises "
                + "what is on disk")
    }
}
