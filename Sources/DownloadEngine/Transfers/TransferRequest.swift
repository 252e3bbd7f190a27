import BookModel
import Transport

/// One episode for the engine to bring to disk.
package struct TransferRequest: Sendable {
    /// With its address in full.
    @Shared package var episode: Episode
    /// Its book's ``Book/name``, for what is told of the transfer.
    package var title = ""
    /// Where the file goes, relative to the library.
    package var path: String
    // Few of the thousands that may wait have any of the next three.
    /// The journal of what earlier runs brought.
    @Boxed package var record: TransferRecord?
    /// The file that the episode's new version takes the place of: the server is asked whether it really changed.
    @Boxed package var replacing: LocalFile?
    /// What stood at ``path`` when it was decided to overwrite it: what was put or written there since is not overwritten.
    /// Nil where nobody looked.
    @Boxed package var existingFile: FileAttributes?
    /// Whether a file that stands at ``path`` may be overwritten.
    package var overwrites = false
    /// True if the run is whole without it once it is gone at its source: the user did not name it.
    package var mayBeGone = false
    /// What has a lower one is begun before what has a higher one.
    package var rank = 0
    /// Since when what it says of the disk and the store may no longer be so.
    package var asOf = ContinuousClock.now
    /// Which way the audio is fetched, with what, and where it may be.
    package var access = SourceAccess.standard
    /// True if the catalog may name another server for a file that the address does not have.
    package var hasMirror = false
    /// Asks the catalog for the address anew, given the one that is no longer good; nil where nobody can be asked.
    package var renewAddress: (@Sendable (ResourceAddress) async throws -> ResourceAddress?)?

    package init(episode: Episode, path: String) {
        (_episode, self.path) = (Shared(wrappedValue: episode), path)
    }

    /// The server whose load the transfer counts for.
    var server: String { episode.address?.server ?? "" }

    /// Bytes that the transfer will probably bring; nil when nobody knows.
    var expectedBytes: Int64? {
        (record?.total ?? episode.size).map { max(0, $0.subtractingSaturated(record?.committedLength ?? 0)) }
    }

    var promised: PromisedContent {
        PromisedContent(size: episode.size, hasDigest: episode.digest != nil)
    }
}
