import BookModel
import DownloadEngine
import LibraryFiles

/// How much the library holds of unfinished transfers, by a look at their files' sizes.
///
/// Look here before asking the store: a partial file that is not there any more has become the episode's then, and the
/// store says so.
package struct PartialSizes: Sendable {
    private struct Sizes {
        /// Bytes from the file's beginning on, and all.
        var front, all: Int64
        var note: PartialNote?
    }

    /// By the name of the partial file.
    private var sizes: [String: Sizes] = [:]

    /// - Parameter library: absolute.
    /// - Throws: ``Failure`` of kind `inputOutput` when the folder cannot be read.
    package init(library: String) async throws {
        let prefix = LibraryFolder.partialPath + "/"
        let files = try await FolderScan.scan(folders: [LibraryFolder.partialPath], under: library)
        sizes = try await runBlocking {
            var sizes: [String: Sizes] = [:]
            for (path, facts) in files where facts.kind == .file && path.hasPrefix(prefix) {
                let name = path.dropFirst(prefix.count)
                let note = PartialNote.at(library + "/" + path)
                let (front, all) = note?.countOfParts ?? (facts.size, facts.size)
                sizes[String(name)] = Sizes(front: front, all: all, note: note)
            }
            return sizes
        }
    }

    /// Bytes of the episode, good or not; nil where there is no partial file.
    package func bytes(of episode: EpisodeIdentity) -> Int64? {
        sizes[PartialFile.name(for: episode)]?.all
    }

    /// Bytes on disk of an episode without a file. One that is being put in its place has no partial file any more.
    package func bytesDone(of shelved: EpisodeRecord) -> Int64 {
        guard let transfer = shelved.transfer else { return 0 }
        return bytes(of: shelved.episode.identity) ?? (transfer.state == .downloading ? transfer.committedLength : 0)
    }

    /// Bytes of the episode that will not be fetched again.
    package func resumableBytes(of shelved: EpisodeRecord) -> Int64 {
        guard var record = shelved.transfer, let sizes = sizes[PartialFile.name(for: shelved.episode.identity)] else {
            return 0
        }
        record.complete(from: sizes.note)
        let front = record.resumableBytes(
            ofPartialFile: sizes.front, hasDigest: shelved.episode.digest != nil, bootID: BootIdentity.current)
        return record.validator.ifRange == nil ? front : front.addingSaturated(sizes.all - sizes.front)
    }
}
