import BookModel
import Foundation
import Transport

/// What one try at a transfer came to.
struct AttemptResult: Sendable {
    enum Ending: Sendable {
        case received(ReceivedFile)
        /// The server still has what is on disk.
        case unchanged
        /// What was held is of no use: begin again, once, for this reason.
        case restart(Message)
        case retry(RetryReason)
        /// A body without a declared length ended before the catalog's size, after so many bytes. Whether that was its
        /// end, or the connection's, nobody can tell: it is asked for once more.
        case endedEarly(Int64)
        /// Audio that is too little to be the episode: the server refuses more, or wants to be paid. Its digest is `spoiled`.
        case stub(RetryReason)
        case fail(Failure)
        /// The server refuses the address, which may just have expired; with the failure if it has not.
        case expired(Failure)
        /// The run was interrupted; what was received is kept.
        case stopped
    }

    /// Why a transfer is to be tried again.
    struct RetryReason: Sendable {
        var why: Message
        /// Seconds that the server asked to wait.
        var after: Double?
        /// When that will have passed.
        var end: Date? { after.map { Date() + $0 } }
        /// That asked so: beyond a redirect it is another one than the episode's.
        var server: String?
        /// True if the server has too much to do, or does not respond, so that all transfers pause for it.
        var isServerBusy = false
        /// True if the server says that it gets too many requests.
        var isRateLimit = false
        /// Whether the server is so slow that what it brought is no progress worth going on for.
        var isServerTooSlow = false
    }

    var ending: Ending
    /// The journal as it stands after the attempt.
    var record: TransferRecord
    /// Bytes that were held before, and put to use.
    var bytesReused: Int64 = 0
    /// Bytes of those, and of what came since, that were sent again.
    var bytesRepeated: Int64 = 0
    /// Body bytes off the wire.
    var bytesReceived: Int64 = 0
    /// Bytes that the partial file grew by.
    var progress: Int64 = 0
    /// Whether TLS ended without the message that closes it (close_notify), where nothing else tells the body's end.
    var isNotClosed = false
    /// Whether the next runs will meet the same failure.
    var isForGood = false
    /// SHA-256 of a whole file that is of no use: its audio is broken.
    var spoiled: String?
    /// Of the answer with audio that came, if one did, whatever became of it.
    var answered: ContentValidator?
    /// That sent a response other than that it is too busy, or cannot; nil where none came.
    var respondingServer: String?

    var isReceived: Bool {
        if case .received = ending { true } else { false }
    }
}

extension AttemptResult.RetryReason {
    init(_ failure: TransportError) {
        why = failure.why
        if case .tooSlow = failure.kind { isServerTooSlow = true }
        after = failure.requestedWait
        server = failure.address.server
        isServerBusy = after != nil
    }

    /// As an answer's head says.
    init(why: Message, answer: HTTPResponse) {
        self.why = why
        after = answer.requestedWait(now: Date().timeIntervalSince1970)
        server = answer.address.server
        isServerBusy = [429, 503].contains(answer.status)
        isRateLimit = answer.status == 429
    }
}

extension TransferRequest {
    /// A failure of this episode alone. It names the book: whoever reads it in a mail has no list beside it.
    func failure(
        _ why: Message, remedy: Message? = nil, kind: Failure.Kind = .temporary, reason: Failure.Reason? = nil
    ) -> Failure {
        Failure(kind, what: episode.named(in: title), why: why, remedy: remedy, reason: reason)
    }

    /// The same of what failed on the way, such as its partial file; what ends the run is no episode's failure.
    func failure(because cause: Failure) -> Failure {
        let what = episode.named(in: title)
        guard cause.disposition != .stop, cause.what != what else { return cause }
        return failure("\(cause.what): \(cause.why)", remedy: cause.remedy, kind: cause.kind)
    }
}
