/// Something that went wrong, told to the user: what failed, why, and what to do next.
///
/// Every error that crosses a module boundary is one of these; the command maps ``kind`` to its exit code in one
/// place. None of the texts may hold a secret.
package struct Failure: ExplainedError, Sendable, Hashable, CustomStringConvertible {
    package enum Kind: String, Sendable, CaseIterable {
        /// The command line is wrong.
        case usage
        /// The configuration is wrong.
        case configuration
        /// The source does not know the book.
        case unknownBook = "unknown_book"
        /// The catalog's answer cannot be understood.
        case unreadableCatalog = "unreadable_catalog"
        /// The catalog cannot be reached, or refuses for now.
        case catalogUnavailable = "catalog_unavailable"
        case credentialsRejected = "credentials_rejected"
        /// The library cannot be written.
        case libraryUnwritable = "library_unwritable"
        /// Reading or writing failed; the disk is full.
        case inputOutput = "input_output"
        /// Some episodes failed, or another run holds the lock: will do later.
        case temporary
        /// A defect in booksync.
        case defect

        /// The word in `--json`.
        package var keyword: String { rawValue }
    }

    /// What the one who meets the failure does about it.
    package enum Disposition: Sendable, Hashable {
        /// Try the same thing again after a wait.
        case retry
        /// Give up on this episode (or book) and go on with the others.
        case skip
        /// End the run: whatever comes next would fail as well.
        case stop
    }

    /// What a failure of some kind is in particular, for those who act on it.
    package enum Reason: Sendable, Hashable {
        case lackOfRoom
        /// The file of the store itself is wrong, so that only another one helps.
        case storeDamage
        /// The first run that writes has not made the store's tables yet.
        case storeUnmade
        /// The server no longer knows how far the list was read: it has to be read from its beginning.
        case expiredCursor
        /// Another run holds the library: once it has ended, the same can be tried again.
        case libraryInUse
        /// Another run took the library over, because it believed this one dead: nothing may be published any more.
        case takenOver
        /// The file is there, and is no audio, or none that is whole.
        case unreadableAudio
        /// The server does not have the file (404, 410).
        case missingAtSource
    }

    package let kind: Kind
    package let reason: Reason?
    package let disposition: Disposition
    /// What failed, naming the thing: "page 2 of kting:30776 cannot be read".
    package let what: Message
    /// Why: "the answer is HTML: '<html><title>Login'".
    package let why: Message
    /// What to do next; nil when there is nothing to be done but wait.
    package var remedy: Message?
    /// What a library said of it, for the log of those who look for a defect; never shown.
    package var detail: String?

    package init(
        _ kind: Kind, disposition: Disposition = .skip, what: Message, why: Message, remedy: Message? = nil,
        reason: Reason? = nil
    ) {
        self.kind = kind
        self.disposition = disposition
        self.what = what
        self.why = why
        self.remedy = remedy
        self.reason = reason
    }

    /// The whole as one sentence and a half, in English.
    package var description: String { message.description }

    /// The whole as one sentence and a half.
    package var message: Message {
        guard let remedy else { return "\(what): \(why)" }
        return "\(what): \(why); \(remedy)"
    }

    /// The same without what failed, where that is named beside it.
    package var explanation: Message { remedy.map { "\(why); \($0)" } ?? why }
}

extension Failure {
    /// The error itself where it is one; any other is a defect.
    package static func of(_ error: any Error) -> Failure {
        error as? Failure
            ?? Failure(
                .defect, disposition: .stop, what: "booksync failed in an unforeseen way", why: Message(cause: error))
    }
}
