import BookModel
import Foundation
import LibraryFiles

/// A file that a run announced for its path in the library and whose record it may not have lived to commit.
package struct InterruptedPublication: Sendable {
    /// In state `verifying`, with digest and path.
    package let record: TransferRecord
    /// As the catalog listed the episode then.
    package let episode: Episode

    package init(record: TransferRecord, episode: Episode) {
        self.record = record
        self.episode = episode
    }

    /// Looks for the file at the path that it was announced for.
    ///
    /// - Parameter library: absolute path.
    /// - Returns: the file to record, when the bytes there are the announced ones; nil when it never got there. Then its
    ///   bytes are still in the partial file, and the transfer goes on from them.
    /// - Throws: ``Failure`` when what is there cannot be read.
    package func publishedFile(in library: String) async throws -> LocalFile? {
        guard let path = record.path, let sha256 = record.sha256 else { return nil }
        let absolute = library + "/" + path
        switch try await runBlocking({ FileReader().look(at: absolute) }) {
        case .file(let found) where found.sha256 == sha256:
            var file = LocalFile(
                episode: record.episode, path: path, size: found.facts.size, sha256: sha256,
                modificationTime: found.facts.modificationTime, inode: found.facts.inode, validator: record.validator,
                fetchedAt: Date(), verification: record.total == found.facts.size ? .length : .unverified)
            file.recordClaims(of: episode)
            return file
        case .unreadable(let error): throw Failure.file("\(absolute) cannot be read", errno: error.code)
        case .file, .nothing, .other, nil: return nil
        }
    }
}
