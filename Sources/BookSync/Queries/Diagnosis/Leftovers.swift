import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles

/// What lies in `.booksync` beside the store: what no run will use again, and what the next one goes on with. Only to be looked for while no run is under way.
struct Leftovers: Sendable {
    /// Partial files that no transfer in the store knows, and temporary files of runs that were killed.
    private var orphans = Tally()
    /// Partial files that a run goes on with, as far as anybody can tell.
    private var unfinished = Tally()
    /// Stores that were damaged, and are kept aside.
    private var damagedStores = Tally()
    /// What joins had encoded that did not come to their end.
    private var joining = Tally()
    private let folder: LibraryFolder

    private struct Tally {
        var count = 0
        var bytes: Int64 = 0

        mutating func add(_ facts: FileAttributes) {
            count += 1
            bytes.addSaturated(facts.size)
        }

        func sentence(_ one: Message, _ many: Message) -> Message? {
            count == 0 ? nil : "\(count == 1 ? one : many) (\(describeBytes(bytes)))"
        }
    }

    /// - Throws: ``Failure`` of kind `inputOutput` when a folder cannot be read.
    init(in folder: LibraryFolder) async throws {
        self.folder = folder
        let known = try await Self.knownPartials(of: folder)
        let prefix = LibraryFolder.partialPath + "/"
        for (path, facts) in try await FolderScan.scan(
            folders: [LibraryFolder.partialPath, LibraryFolder.joiningPath, LibraryFolder.workPath, ".booksync"],
            under: folder.path)
        where facts.kind == .file {
            if path.hasPrefix(prefix) {
                // Without a store to ask nobody can tell.
                if known?.contains(String(path.dropFirst(prefix.count))) ?? true {
                    unfinished.add(facts)
                } else {
                    orphans.add(facts)
                }
            } else if path.hasPrefix(LibraryFolder.joiningPath + "/") {
                joining.add(facts)
            } else if path.contains(".damaged-") {
                damagedStores.add(facts)
            } else if path.hasSuffix(".tmp") || path.contains(".new-") || path.hasPrefix(LibraryFolder.workPath + "/") {
                orphans.add(facts)
            }
        }
    }

    /// The names of the partial files that transfers go on with; nil where the store does not tell.
    private static func knownPartials(of folder: LibraryFolder) async throws -> Set<String>? {
        do {
            let transfers = try await LibraryFolder.withReadableStore(in: folder.path) {
                try await $0?.unfinishedTransfers()
            }
            return transfers.map { transfers in
                Set(
                    transfers.filter { !$0.isGone && $0.removedAt == nil }
                        .map { PartialFile.name(for: $0.episode.identity) })
            }
        } catch is Failure {
            return nil
        }
    }

    private var joins: Message? {
        joining.sentence("1 file of an unfinished join", "\(joining.count) files of unfinished joins")
    }

    private func downloads(_ tally: Tally) -> Message? {
        tally.sentence("1 file of an unfinished download", "\(tally.count) files of unfinished downloads")
    }

    /// What only takes up room; nil when nothing does.
    var sentence: Message? {
        let parts = [
            downloads(orphans).map { files -> Message in "\(files) that nothing will go on with" },
            damagedStores.sentence(
                "1 file of a damaged store", "\(damagedStores.count) files of damaged stores"), joins,
        ].compactMap(\.self)
        return orphans.count + damagedStores.count == 0 ? nil : parts.joined(separator: ", ")
    }

    /// What was kept on purpose; nil when nothing was.
    var harmlessSentence: Message? {
        let parts = [
            downloads(unfinished).map { files -> Message in "\(files), kept for the next run" },
            joins.map { files -> Message in
                "\(files) in \(folder.ownFolder)/joining, for when the book is joined again"
            },
        ].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    var remedy: Message? {
        let paths = [
            orphans.count > 0 ? "\(folder.ownFolder) (*.tmp, *.new-*, partial/)" : nil,
            damagedStores.count > 0 ? "\(folder.ownFolder)/*.damaged-*" : nil,
        ].compactMap(\.self)
        return paths.isEmpty ? nil : "delete them when you need the room: \(paths.joined(separator: ", "))"
    }
}
