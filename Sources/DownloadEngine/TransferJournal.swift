import BookModel

/// Where the engine keeps what must survive it. Every call returns once its transaction is committed.
package protocol TransferJournal: Sendable {
    /// Inserts or updates the records, all in one transaction.
    func save(_ records: [TransferRecord]) async throws

    /// Records files that are in the library now and drops their transfers, all in one transaction that has reached
    /// the disk when the call returns.
    func finish(_ files: [LocalFile]) async throws

    /// The transfers that the listener paused or cancelled, perhaps from another process.
    func stoppedTransfers() async throws -> [EpisodeIdentity: TransferState]

    /// The transfers that the listener wants before all others, the first of them first.
    func preferredTransfers() async throws -> [EpisodeIdentity]
}
