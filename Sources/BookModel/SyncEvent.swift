import Foundation

/// What a run tells while it works: one stream of values that the terminal, the JSON printer and the web page render.
package enum SyncEvent: Sendable {
    /// Something the user should know that is no failure ("using the built-in demo catalog").
    case notice(Message)
    /// A notice that is printed with `--quiet` too.
    case alert(Message)
    /// A notice that is printed with `--verbose` only.
    case detail(Message)
    /// A book's catalog was read and its plan made.
    case planned(SyncPlan)
    case started(TransferProgress)
    case progressed(TransferProgress)
    /// How far the run is as a whole.
    case advanced(RunProgress)
    /// How far something is that counts itself, as a verification does: shown in place of what the run's events come to.
    case measured(ProgressState)
    /// So many more catalogs are to be asked.
    case asking(catalogs: Int)
    /// So many files are still to be read for their durations.
    case reading(files: Int)
    /// Something has to wait from now on; nil when it waits no longer.
    case waiting(WaitSubject, Wait?)
    case finished(TransferReceipt)
    /// A file that was there already is recorded as an episode's.
    case adopted(AdoptionReceipt)
    /// A file was moved to another name; paths relative to the library.
    case renamed(EpisodeIdentity, from: String, to: String)
    /// A transfer, or a whole book, was given up for this run.
    case failed(FailureReport)
    /// The user paused a transfer, or broke it off.
    case paused(EpisodeIdentity, name: String)
    case cancelled(EpisodeIdentity, name: String)
    case summarised(RunSummary)
}

/// What has to wait.
package enum WaitSubject: Sendable, Hashable {
    /// For its catalog.
    case book(BookIdentity)
    /// For the answer that says whose catalog it is.
    case address(ResourceAddress)
    /// For the next try at its transfer.
    case episode(EpisodeIdentity)
}

/// What something waits for.
package struct Wait: Sendable, Hashable {
    /// Of what waits, to be shown.
    package var name: String
    /// "asking the catalog", "HTTP status 503".
    package var reason: Message
    /// How long it will take; nil where nobody knows.
    package var seconds: Double?
    /// That asked for the wait, so that nothing else is asked of it meanwhile; nil where it is no server's doing.
    package var server: String?

    package init(name: String, reason: Message, seconds: Double? = nil, server: String? = nil) {
        self.name = name
        self.reason = reason
        self.seconds = seconds
        self.server = server
    }

    /// For a catalog's answer.
    /// - Parameter pause: until the server is asked again; nil while it is asked.
    package init(asking name: String, pause: (reason: Message, seconds: Double)? = nil, server: String? = nil) {
        self.init(name: name, reason: "asking the catalog")
        guard let pause else { return }
        (reason, seconds, self.server) = (pause.reason, pause.seconds, server)
    }
}

/// How far one transfer is.
package struct TransferProgress: Sendable, Hashable {
    package var episode: EpisodeIdentity
    package var section: Int
    package var name: String
    package var path: String
    /// Bytes on disk, those of earlier runs included.
    package var bytesDone: Int64
    /// Bytes that the partial file held when this attempt began.
    package var bytesReused: Int64
    /// The whole length, when known.
    package var total: Int64?
    /// Over the last seconds; nil while there is too little to tell.
    package var bytesPerSecond: Double?

    package init(
        episode: EpisodeIdentity, section: Int, name: String, path: String, bytesDone: Int64, bytesReused: Int64,
        total: Int64?
    ) {
        self.episode = episode
        self.section = section
        self.name = name
        self.path = path
        self.bytesDone = bytesDone
        self.bytesReused = bytesReused
        self.total = total
    }
}

extension TransferProgress {
    package var bytes: ByteProgress {
        ByteProgress(bytesDone: bytesDone, total: total, bytesPerSecond: bytesPerSecond)
    }
}

/// What a finished transfer leaves behind.
package struct TransferReceipt: Sendable, Hashable {
    package enum Outcome: String, Sendable {
        case fetched, resumed, replaced
        /// A replacement was asked for, and the server said that nothing changed.
        case unchanged
    }

    package var outcome: Outcome
    package var section: Int
    package var name: String
    package var file: LocalFile
    /// Body bytes off the wire in this run, wasted ones included.
    package var bytesReceived: Int64
    /// Bytes of earlier runs that were not fetched again.
    package var bytesReused: Int64
    package var seconds: Double
    /// What was odd (a stale catalog size), in sentences for the user.
    package var remarks: [Message]

    package init(
        outcome: Outcome, section: Int, name: String, file: LocalFile, bytesReceived: Int64, bytesReused: Int64,
        seconds: Double, remarks: [Message]
    ) {
        self.outcome = outcome
        self.section = section
        self.name = name
        self.file = file
        self.bytesReceived = bytesReceived
        self.bytesReused = bytesReused
        self.seconds = seconds
        self.remarks = remarks
    }
}

/// A file that was recognised and recorded, without a byte fetched.
package struct AdoptionReceipt: Sendable, Hashable {
    package var section: Int
    package var name: String
    package var file: LocalFile
    /// By what it was recognised, in words for the user.
    package var reason: Message

    package init(section: Int, name: String, file: LocalFile, reason: Message) {
        self.section = section
        self.name = name
        self.file = file
        self.reason = reason
    }
}

/// Something of a run that failed: an episode, or a book whose catalog could not be read.
package struct FailureReport: Sendable {
    package var book: BookIdentity?
    /// The books that it concerns, where they are several: ``book`` is the first of them.
    package var books: [BookIdentity] = []
    package var episode: EpisodeIdentity?
    package var section: Int?
    package var name: String?
    package var failure: Failure

    package init(
        book: BookIdentity? = nil, episode: EpisodeIdentity? = nil, section: Int? = nil, name: String? = nil,
        failure: Failure
    ) {
        self.book = book
        self.episode = episode
        self.section = section
        self.name = name
        self.failure = failure
    }

    package init(_ episode: Episode, _ failure: Failure) {
        self.init(
            book: episode.identity.book, episode: episode.identity, section: episode.section, name: episode.name,
            failure: failure)
    }
}

/// The counts at the end of a run. Those of episodes add up to the episodes that the run's books list, but that a book
/// whose catalog could not be read counts as one failure.
package struct RunSummary: Sendable, Hashable, Codable {
    /// Books of the run, by the name to show: `30776 回到古代当兽医`.
    package var books: [String] = []
    package var fetched = 0
    package var resumed = 0
    package var replaced = 0
    /// Files that have another name now, and nothing else happened to.
    package var renamed = 0
    package var adopted = 0
    package var kept = 0
    package var locked = 0
    package var failed = 0
    /// Those of ``failed`` that are no episodes but catalogs, and those that are neither.
    package var failedCatalogs = 0
    package var failedOtherwise = 0
    /// Episodes that failed in earlier runs and wait for their next try. They are wanted, and missing.
    package var heldBack = 0
    package var paused = 0
    /// Episodes that the user removed.
    package var removed = 0
    /// Episodes whose files the run moved to the trash, because the rule of their book does not keep them.
    package var expired = 0
    /// Episodes that are neither in the catalog any more nor on disk.
    package var gone = 0
    /// Episodes that the filter does not ask for, and that stay as they are.
    package var filtered = 0
    /// Transfers left for the next run, because this one was interrupted or came to its limits.
    package var left = 0
    package var bytesReceived: Int64 = 0
    /// Those of ``bytesReceived`` that are of transfers that did not come to their end.
    package var bytesUnfinished: Int64 = 0
    package var bytesReused: Int64 = 0
    /// From when the work on the run began, finding out which books its addresses name included.
    package var seconds: Double = 0

    /// What is kept of a run that has ended.
    private enum CodingKeys: CodingKey {
        case fetched, resumed, replaced, renamed, adopted, kept, locked, failed, heldBack, paused, removed, expired
        case gone, filtered, left, bytesReceived, bytesReused, seconds
    }

    package init() {}
}
