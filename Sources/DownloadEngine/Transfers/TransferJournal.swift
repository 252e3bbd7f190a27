import BookModel

/// Where the engine keeps what must survive it.
///
/// The commits block the thread that calls, which is one of the engine's own: waiting for another thread, and then for
/// the way back, would cost a small file more than the transaction does.
package protocol TransferJournal: Sendable {
    /// Inserts or updates the records, all in one transaction that is committed when the call returns.
    func commit(_ records: [TransferRecord]) throws

    /// Records that these wait for being fetched, where they are not paused or cancelled. It says nothing of their bytes.
    func commit(waiting episodes: [EpisodeIdentity]) throws

    /// Shows to whoever looks at the queue that these are being fetched, where the journal says that they wait. It says
    /// nothing of their bytes.
    func commit(begun episodes: [EpisodeIdentity]) throws

    /// Announces files that are about to be put into the library, all in one transaction that has reached the disk when the
    /// call returns: whoever is killed then leaves word of where they may be.
    func commit(publishing files: [LocalFile]) throws

    /// Records files that are in the library now and drops their transfers, and takes back what was announced of those that
    /// `failed`, all in one transaction that has reached the disk when the call returns.
    func commit(finished files: [LocalFile], failed: [EpisodeIdentity]) throws

    /// The transfers that the user paused or cancelled, perhaps from another process.
    func stoppedTransfers() async throws -> [EpisodeIdentity: TransferState]
}
