import BookModel
import Foundation
import SyncPlanner

/// Why an episode is, or is not, to be fetched: all that bears on it, and the same in plain sentences. Pure: what the
/// store, the disk and the planner say is given.
package struct EpisodeExplanation: Sendable {
    var book: Book
    package var shelved: EpisodeRecord
    /// Bytes of its partial file.
    package var partial: Int64 = 0
    /// What stands at the recorded path.
    package var existingFile: FileAttributes?
    /// Whether a symbolic link stands in the place of one of its folders, which nobody looks behind.
    package var isBehindLink = false
    /// Whether its file can be brought back from the trash.
    package var isInTrash = false
    /// When its file was last read whole and found right.
    package var verifiedAt: Date?
    /// When what the catalog says of the book last changed.
    package var catalogChangedAt: Date?
    /// True if its catalog is a directory.
    package var isOfDirectory = false
    /// Whether the book is subscribed to, so that the plan is that of a mirror; else it is that of a fetch.
    var isFollowed: Bool
    /// What the run would do about the episode; an episode with a new name and a new version has two.
    var actions: [SyncAction]
    package var isRunUnderWay = false
    /// Whether that run is one for all subscriptions.
    package var isMirrorUnderWay = false
    var now = Date()

    /// One paragraph.
    package var paragraph: Message { sentences.joined(separator: " ") }

    /// What becomes of it comes first; then, in the order in which one would ask, who it is, what the catalog says, what is
    /// on disk, how it came there, and what went wrong.
    var sentences: [Message] {
        (verdict + [identity] + catalog + disk + history + failures).map(Self.ended)
    }

    private static func ended(_ sentence: Message) -> Message {
        guard let last = sentence.description.last, !".!?。！？".contains(last) else { return sentence }
        return "\(sentence)."
    }

    private var reference: String { BookReference.example(shelved.episode.section, of: book.identity) }

    // MARK: - Who it is

    private var identity: Message {
        let episode = shelved.episode
        let guid: Message = episode.guid.flatMap { $0 == episode.identity.key ? nil : " and its guid \($0)" } ?? ""
        return isOfDirectory
            ? "Its id is \(episode.identity.key), the path of its file in the directory; under another name the file is recognised by its exact size and time"
            : "Its id is \(episode.identity.key)\(guid); a new title or address does not matter"
    }

    // MARK: - What the catalog says

    private var catalog: [Message] {
        let episode = shelved.episode
        if shelved.isGone { return ["The catalog no longer lists it"] }
        var said: [Message] = [episode.size.map { "\(describeBytes($0)) (\($0) bytes)" } ?? "no size"]
        if let duration = episode.duration { said.append(Message(verbatim: describeSeconds(duration))) }
        if let publishedAt = episode.publishedAt { said.append("published \(publishedAt)") }
        if let modifiedAt = episode.modifiedAt { said.append("changed \(modifiedAt)") }
        if let digest = episode.digest { said.append("\(digest.algorithm.rawValue) \(digest.hexadecimal)") }
        let asOf: Message = catalogChangedAt.map { " (the listing last changed on \($0))" } ?? ""
        let location: Message =
            episode.address.map { "at \($0.withoutSecrets)" } ?? "without an address, so it is locked"
        var sentences: [Message] = ["The catalog lists it \(location)\(asOf): \(said.joined(separator: ", "))"]
        if !book.isComplete { sentences.append("The last listing of the book broke off, so this may be out of date") }
        return sentences
    }

    // MARK: - What is on disk

    private var disk: [Message] {
        guard let file = shelved.file else {
            if isInTrash { return ["Its file is in the trash: booksync trash restore \(reference) brings it back"] }
            guard partial > 0 else { return ["Nothing of it is on disk"] }
            let total: Message =
                (shelved.transfer?.total ?? shelved.episode.size).map { " of \(describeBytes($0))" } ?? ""
            return ["A partial file holds \(describeBytes(partial))\(total)"]
        }
        var sentences = [standingSentence(file)]
        if file.isNamedByUser {
            sentences.append("The naming leaves that name alone: you gave it, or took its renaming back")
        }
        if partial > 0 { sentences.append("Of a new version \(describeBytes(partial)) are here") }
        return sentences
    }

    private func standingSentence(_ file: LocalFile) -> Message {
        if isBehindLink { return "Its file is \(file.path), behind a symbolic link that booksync does not follow" }
        guard let existingFile else { return "Its file was \(file.path), and nothing stands there now" }
        guard existingFile.kind == .file else {
            return "Its file was \(file.path), where \(existingFile.kind.noun) stands now"
        }
        guard existingFile.size == file.size else {
            return "Its file \(file.path) had \(file.size) bytes when it was fetched and has \(existingFile.size) now"
        }
        let isTouched = existingFile.modificationTime != file.modificationTime
        return "On disk it is \(file.path), \(describeBytes(file.size)) as recorded"
            + (isTouched ? ", touched since then" : "")
    }

    // MARK: - How it came there

    private var history: [Message] {
        var sentences: [Message] = []
        if let file = shelved.file {
            let proof: Message =
                switch file.verification {
                case .digest: "a digest that the catalog or the server gave fitted"
                case .length where shelved.episode.size ?? file.fetchedSize != file.fetchedSize:
                    "its length matches the one that the server declared (\(file.fetchedSize) bytes), and not the catalog's (\(shelved.episode.size ?? 0) bytes)"
                case .length where shelved.episode.size == nil: "its length matches the one that the server declared"
                case .length: "its length matches the declared one"
                case .unverified: "there was no checksum to compare with"
                }
            let origin: Message = file.fetchedFrom.map { "fetched from \($0)" } ?? "fetched or recognised"
            sentences.append("It was \(origin) on \(file.fetchedAt); \(proof)")
            sentences.append(
                verifiedAt.map { "booksync verify last found it right on \($0)" }
                    ?? "booksync verify has not found it right since")
        }
        if let removedAt = shelved.removedAt {
            let cause: Message =
                switch shelved.removedBy {
                case .user: "It was removed on \(removedAt)"
                case .keepRule: "It was removed on \(removedAt) by the rule that says which of the book's episodes stay"
                case .missingFile: "Its file was found deleted on \(removedAt)"
                case .imported:
                    "Another program had fetched it, as its records said on \(removedAt), and no file of it was found"
                }
            sentences.append(
                "\(cause): it is not fetched again unless fetch --force says so, or remove --forget takes that back")
        }
        return sentences
    }

    // MARK: - What went wrong

    private var failures: [Message] {
        guard let transfer = shelved.transfer else { return [] }
        var sentences: [Message] = []
        switch transfer.state {
        case .downloading:
            if !isRunUnderWay { sentences.append("A run that fetched it was cut off") }
        case .paused: sentences.append("Its transfer is paused (booksync resume lets it go on)")
        case .cancelled: sentences.append("Its transfer was cancelled; what it had brought is dropped")
        case .waiting, .failed, .finished: break
        }
        guard let error = transfer.error, transfer.attempts > 0 || transfer.waits(at: now) else { return sentences }
        let failed: Message =
            switch transfer.attempts {
            case 0: "It was put off, because: \(error)"
            case 1: "It failed once, the last time because: \(error)"
            default: "It failed in \(transfer.attempts) runs, the last time because: \(error)"
            }
        sentences.append(failed)
        if let next = transfer.nextTryAt, transfer.waits(at: now) {
            sentences.append(
                "It is not tried again before \(next), and longer after each run in which it fails, up to a "
                    + "week; --force tries it at once")
        }
        return sentences
    }

    // MARK: - What next

    private var verdict: [Message] {
        let name: Message = "\(shelved.episode.named(in: book.name)) (\(reference))"
        let isBeingFetched = isRunUnderWay && shelved.transfer?.state == .downloading
        let actions = isBeingFetched ? actions.filter { ![.fetch, .resume, .replace].contains($0.kind) } : actions
        if isBeingFetched, actions.isEmpty { return ["\(name): a run is fetching it now"] }
        let mirror: Message = isMirrorUnderWay ? "the mirror that is under way" : "the next mirror"
        let who = isFollowed ? mirror : "mirror does not follow the book; booksync fetch"
        if actions.isEmpty { return ["\(name): \(who) would skip it"] }
        let mayCome = isRunUnderWay && !isMirrorUnderWay && actions.contains { $0.bytes ?? 0 > 0 }
        let deeds = actions.map { action -> Message in
            if action.kind == .keep { return "nothing to do: \(action.reason)" }
            let bytes: Message = action.bytes.map { " (\(describeBytes($0)))" } ?? ""
            let deed: Message =
                switch action.kind {
                case .fetch: "would fetch it\(bytes) to \(action.path)"
                case .resume: "would fetch the rest of it\(bytes) to \(action.path)"
                case .replace: "would fetch its new version\(bytes) and put it in the place of \(action.path)"
                case .rename: "would rename \(action.fromPath ?? "it") to \(action.path)"
                case .adopt: "would record the file \(action.path) as its"
                case .expire: "would move its file to the trash"
                case .keep, .skip: "would not fetch it"
                }
            return "\(who) \(deed): \(action.reason)"
        }
        return ["\(name): \(deeds.joined(separator: "; "))"]
            + (mayCome ? ["The run that is under way does so if it was started for it, as booksync queue shows"] : [])
    }
}

extension JSONDocument {
    package init(_ explanation: EpisodeExplanation) {
        let shelved = explanation.shelved
        self = JSONDocument(shelved, bytesDone: shelved.file?.size ?? explanation.partial).adding([
            "fetched_at": .init(shelved.file?.fetchedAt),
            "fetched_from": .init(shelved.file?.fetchedFrom),
            "verified_at": .init(explanation.verifiedAt),
            "removed_at": .init(shelved.removedAt),
            "removed_by": .init(shelved.removedAt.map { _ in shelved.removedBy.rawValue }),
            "next_try_at": .init(shelved.transfer?.nextTryAt),
            "actions": .array(explanation.actions.map { JSONDocument(action: $0) }),
            "sentences": .array(explanation.sentences.map { .string($0.description) }),
        ])
    }

    private init(action: SyncAction) {
        self = [
            "action": .string(action.kind.keyword),
            "path": .string(action.path),
            "from_path": .init(action.fromPath),
            "bytes": .init(action.bytes),
            "reason": .init(action.reason),
        ]
    }
}
