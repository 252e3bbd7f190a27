import BookModel
import DownloadEngine
import LibraryFiles

/// How much the library holds of unfinished transfers, by a look at their files' sizes.
///
/// Look here before asking the store: a partial file that is not there any more has become the episode's then, and the
/// store says so.
package struct PartialSizes: Sendable {
    private struct Sizes {
        var front: Int64 = 0
        var pieces: Int64 = 0
        var wholePieces: Int64 = 0
    }

    /// By the name of the partial file.
    private var sizes: [String: Sizes] = [:]

    /// - Parameter library: absolute.
    /// - Throws: ``Failure`` of kind `inputOutput` when the folder cannot be read.
    package init(library: String) async throws {
        let prefix = LibraryFolder.partialPath + "/"
        for (path, facts) in try await FolderScan.scan(folders: [LibraryFolder.partialPath], under: library)
        where facts.kind == .file && path.hasPrefix(prefix) {
            let name = path.dropFirst(prefix.count)
            guard let part = PartialFile.part(inFileNamed: String(name)) else { continue }
            switch part.kind {
            case .front: sizes[part.owner, default: Sizes()].front += facts.size
            case .piece(isWhole: false): sizes[part.owner, default: Sizes()].pieces += facts.size
            case .piece(isWhole: true): sizes[part.owner, default: Sizes()].wholePieces += facts.size
            }
        }
    }

    /// Bytes of the episode, good or not; nil where there is no partial file.
    package func bytes(of episode: EpisodeIdentity) -> Int64? {
        guard let sizes = sizes[PartialFile.name(for: episode)] else { return nil }
        return sizes.front + sizes.pieces + sizes.wholePieces
    }

    /// Bytes on disk of an episode without a file. One that is being put in its place has no partial file any more.
    package func bytesDone(of shelved: EpisodeRecord) -> Int64 {
        guard let transfer = shelved.transfer else { return 0 }
        return bytes(of: shelved.episode.identity) ?? (transfer.state == .verifying ? transfer.total ?? 0 : 0)
    }

    /// Bytes of the episode that will not be fetched again.
    package func resumableBytes(of shelved: EpisodeRecord) -> Int64 {
        guard let record = shelved.transfer, let sizes = sizes[PartialFile.name(for: shelved.episode.identity)] else {
            return 0
        }
        let front = record.resumableBytes(
            ofPartialFile: sizes.front, hasDigest: shelved.episode.digest != nil, bootID: BootIdentity.current)
        guard record.validator.ifRange != nil else { return front }
        let isSameBoot = BootIdentity.current != nil && record.bootID == BootIdentity.current
        return front + sizes.wholePieces + (isSameBoot ? sizes.pieces : 0)
    }
}
