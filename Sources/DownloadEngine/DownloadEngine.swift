import BookModel
import Foundation
import LibraryFiles
import Logging
import Transport

/// What a run of the engine came to.
package struct EngineReport: Sendable {
    package var receipts: [TransferReceipt] = []
    package var failures: [FailureReport] = []
    /// Body bytes off the wire, those of failed transfers included.
    package var bytesReceived: Int64 = 0
    /// Transfers that the run did not come to, or broke off: interrupted, or because of its limits.
    package var left = 0
    /// What is told of those among them that no run with these limits ever begins; nil where there are none.
    package var neverBegun: FailureReport?
    /// Those of the run, with what it began within them.
    package var limits = RunLimits()
    /// Transfers that the user paused or cancelled meanwhile.
    package var stopped: [EpisodeIdentity: TransferState] = [:]
    /// Bytes that are still to come of everything that was not finished, as far as lengths are known.
    package var bytesLeft: Int64 = 0
    /// Why the run ended early: a full disk, a library that is gone.
    package var stop: Failure?
}

/// Brings episodes to disk: several at once, each resumed, verified, and published only when whole.
///
/// A ``Dispatcher`` hands transfers out to workers. A transfer gives up its slot while it waits for its next try and while it is
/// being published.
///
/// Guaranteed: a file at its final name is whole and verified, and its record is committed after the file and its
/// folder have reached the disk; bytes held under a validator that still holds are not fetched again. Not guaranteed:
/// that a server which sends no validator lets a transfer be resumed, or that bytes without any declared length or
/// digest are right (they are recorded as unverified).
package struct DownloadEngine: Sendable {
    let tools: EngineTools

    /// - Parameters:
    ///   - library: absolute path of the library.
    ///   - partialFolder: absolute path of the folder for partial files, on the library's own filesystem.
    ///   - makeRoom: gets how many bytes the disk lacks, and says whether it has freed that many.
    ///   - keepReplaced: gets an episode and the path of its file before that is replaced; where it throws, the file stays. May
    ///     block.
    ///   - requireHeld: throws when another run has the library now; is called before each publication, and may block.
    ///   - objection: gets the absolute path of a file that nothing vouches for, and says what is wrong with it; nil where it
    ///     may be put into the library.
    package init(
        transport: HTTPTransport, journal: any TransferJournal, library: String, partialFolder: String,
        settings: EngineSettings, logger: Logger,
        makeRoom: @escaping @Sendable (Int64) async -> Bool = { _ in false },
        keepReplaced: @escaping @Sendable (EpisodeIdentity, String) throws -> Void = { _, _ in },
        requireHeld: @escaping @Sendable () throws -> Void = {},
        objection: @escaping @Sendable (String, Episode) async -> Message? = { _, _ in nil },
        emit: @escaping @Sendable (SyncEvent) -> Void
    ) {
        let watch = DiskGuard(
            library: library, partialFolder: partialFolder, minFreeSpace: settings.minFreeSpace,
            requireHeld: requireHeld)
        tools = EngineTools(
            transport: transport, journal: journal, partialFolder: partialFolder, settings: settings,
            rates: TransferRates(settings), watch: watch,
            publisher: Publisher(
                library: library, journal: journal, watch: watch, keepReplaced: keepReplaced,
                onUnsyncedFolder: { Self.noteUnsyncedFolders(in: library, emit) }),
            makeRoom: makeRoom, objection: objection, emit: emit, logger: logger)
    }

    /// Makes sure that the library is the one that the run began with.
    /// - Throws: ``Failure`` that ends the run.
    package func requireLibrary() async throws {
        try await withTaskExecutorPreference(tools.threads.engine) { try tools.watch.requireSameDisk() }
    }

    /// Fetches the episodes that come into the inbox, those of the lowest rank first. Returns when the inbox is closed and
    /// all are finished, failed or, after cancellation, stopped; never throws, since one episode's failure is not the
    /// others'.
    package func run(_ inbox: TransferInbox) async -> EngineReport { await Dispatcher(tools, inbox).run() }

    /// Reports once for each library that the names of new files are not safe from a power cut. Blocks on the disk.
    private static func noteUnsyncedFolders(in library: String, _ emit: (SyncEvent) -> Void) {
        let mark = open(library + "/.booksync/folders-not-synced", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard mark >= 0 else { return }
        close(mark)
        emit(
            .notice(
                "the library's filesystem cannot sync folders: a power cut may take the files that were downloaded last, and "
                    + "the next run downloads them again"))
    }
}
