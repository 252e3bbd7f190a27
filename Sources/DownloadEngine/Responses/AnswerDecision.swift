import BookModel
import Foundation
import LibraryFiles
import Transport

/// What the partial file holds when a request goes out.
struct PartialContent: Equatable, Sendable {
    var length: Int64 = 0
    /// Of the answer that the bytes came from.
    var validator = ContentValidator()
    /// Of the whole, as declared then.
    var total: Int64?

    var isWhole: Bool { total.map { $0 > 0 && $0 == length } ?? false }
}

extension Episode {
    /// Whether what the catalog says by now does not fit a file that was received before; a digest will tell by itself.
    func listsAnotherVersion(than existing: PartialContent) -> Bool {
        guard digest == nil else { return false }
        if let size, let total = existing.total, size != total { return true }
        guard let modifiedAt, let text = existing.validator.lastModified, let seconds = HTTPDate.seconds(parsing: text)
        else {
            return false
        }
        return modifiedAt.timeIntervalSince1970 > Double(seconds)
    }
}

/// What is known beforehand of the episode's bytes.
struct PromisedContent: Equatable, Sendable {
    var size: Int64?
    /// Whether a digest from the catalog will tell right bytes from wrong ones in the end.
    var hasDigest = false
}

/// What a request asks for.
struct RangeRequest: Equatable, Sendable {
    /// The first byte wanted; 0 asks for the whole, without `Range`, unless there is a last one.
    var first: Int64
    /// The last byte wanted; nil asks for the rest.
    var last: Int64?
    var ifRange: String?

    /// The value of the `Range` field (RFC 9110 §14.2); nil when the whole is asked for.
    var range: String? {
        if let last { return "bytes=\(first)-\(last)" }
        return first > 0 ? "bytes=\(first)-" : nil
    }

    /// Asks for what is missing, if the answer can be tied to what is held; else for the whole.
    ///
    /// A part is asked for only under a validator that `If-Range` may carry, or when a digest will check the whole
    /// (RFC 9110 §13.1.5, §14.2).
    static func whatIsMissing(from existing: PartialContent, promised: PromisedContent) -> RangeRequest {
        let ifRange = existing.validator.ifRange
        guard existing.length > 0, existing.length <= existing.total ?? .max, ifRange != nil || promised.hasDigest
        else { return RangeRequest(first: 0) }
        return RangeRequest(first: existing.length, ifRange: ifRange)
    }
}

/// What to do with an answer, decided from its head alone.
enum AnswerDecision: Equatable, Sendable {
    /// Append the body, which ends with the byte `last`. `total` is the length of the whole, when known. The first `overlap`
    /// bytes are on disk already: they are compared, and not written again.
    case append(total: Int64?, last: Int64, overlap: Int64 = 0)
    /// Throw away what is held and take this very answer from its first byte. One with a coding must be decoded if its first
    /// bytes are not audio: the length of the whole is known at its end then, and its validator is that of the coded bytes, not
    /// of those on disk.
    case replace(total: Int64?, ContentCoding = .identity)
    /// What is held is already the whole; it still has to be verified.
    case complete(total: Int64)
    /// The file on disk is still what the server has.
    case unchanged
    /// Throw away what is held and ask again for the whole. Done once; then it is a failure with this reason.
    case restart(Message)
    /// Ask again after a wait.
    case retry(Message)
    case fail(Rejection)
}

/// Why an answer cannot be used, now or ever.
struct Rejection: Equatable, Sendable {
    var why: Message
    var remedy: Message?
    /// Whether the user is not let in, which no further run mends by itself.
    var isOfCredentials = false
    /// Whether the next runs will meet the same.
    var isForGood = false
    /// True if the server does not have the file.
    var isMissing = false
}

/// Decides what an answer's head means for what is held and what was asked (RFC 9110 §14.2, §15.3.7, §15.5.17).
///
/// A pure function: it opens no file and no socket.
func decide(
    existing: PartialContent, asked: RangeRequest, head: ResponseHead, promised: PromisedContent = .init()
) -> AnswerDecision {
    switch head.status {
    case 200, 203: decideWhole(existing: existing, head: head, promised: promised)
    case 206: decidePart(existing: existing, asked: asked, head: head, promised: promised)
    case 304: .unchanged
    case 416: decideUnsatisfied(existing: existing, asked: asked, head: head, promised: promised)
    default: decideError(status: head.status)
    }
}

private func decideWhole(existing: PartialContent, head: ResponseHead, promised: PromisedContent) -> AnswerDecision {
    if head.isLiveStream {
        return .fail(Rejection(why: "the server sends a live stream, which has no end", isForGood: true))
    }
    if head.contentLength == 0, promised.size != 0 { return .fail(.emptyAnswer) }
    if let length = head.contentLength, length > FileSize.max {
        return .fail(Rejection(why: "the server declares \(length) bytes, which no file of audio has"))
    }
    // What is held of this very file stays, however far the answer gets.
    if head.coding == .identity, let total = head.contentLength, total == existing.total ?? total,
        existing.length >= AudioSignature.wanted, existing.length < total, isSame(existing.validator, head.validator)
    {
        return .append(total: total, last: total - 1, overlap: existing.length)
    }
    return .replace(total: head.contentLength, head.coding)
}

private func decidePart(
    existing: PartialContent, asked: RangeRequest, head: ResponseHead, promised: PromisedContent
) -> AnswerDecision {
    guard asked.range != nil else { return .restart("the server sent a part although the whole was asked for") }
    if head.coding != .identity { return .restart("the server sent a part of a compressed file") }
    if head.contentType?.hasPrefix("multipart/") == true {
        return .restart("the server sent several parts although one was asked for")
    }
    guard let range = head.contentRange, case .bytes(let first, let last, let total) = range else {
        return .restart("the server did not say which part it sent")
    }
    guard first <= asked.first, last >= asked.first else {
        return .restart("the server sent the part from byte \(first) on, not from \(asked.first)")
    }
    if let length = head.contentLength, length != last - first + 1 {
        return .restart("the server sent a part whose length contradicts its range")
    }
    if let old = existing.total, let total, old != total {
        return .restart("the file on the server has another length now (\(total) bytes, not \(old))")
    }
    if let old = existing.total, last >= old {
        return .restart("the file on the server is longer now than \(old) bytes")
    }
    // A part may be shorter than asked for (§15.3.7): the rest is asked for next.
    if let asked = asked.last, last > asked {
        return .restart("the server sent the part up to byte \(last), not up to \(asked)")
    }
    guard isSame(existing.validator, head.validator) || promised.hasDigest else {
        return .restart("the file on the server is not the one that was begun")
    }
    return .append(total: total ?? existing.total, last: last, overlap: asked.first - first)
}

/// Whether an answer's validator says that it is the representation that was begun. A strong entity tag decides; where
/// there is none, a strong modification time does, unless weak tags contradict it. Silence is no proof.
private func isSame(_ old: ContentValidator, _ new: ContentValidator) -> Bool {
    if old.hasStrongEntityTag { return old.entityTag == new.entityTag }
    if let oldTag = old.entityTag, let newTag = new.entityTag, oldTag != newTag { return false }
    guard let age = old.age, age >= 1, let modified = old.lastModified else { return false }
    return modified == new.lastModified
}

private func decideUnsatisfied(
    existing: PartialContent, asked: RangeRequest, head: ResponseHead, promised: PromisedContent
) -> AnswerDecision {
    guard asked.range != nil else {
        return .fail(Rejection(why: "the server refuses the range (416) although none was asked for"))
    }
    if case .unsatisfied(let total) = head.contentRange, total == existing.length {
        // A server that honours If-Range sends 416 for the same version only. Many leave the validators out of an error.
        let isSameVersion =
            asked.ifRange != nil
            && (head.validator == ContentValidator() || isSame(existing.validator, head.validator))
        if isSameVersion || promised.hasDigest || promised.size == total { return .complete(total: total) }
    }
    return .restart("the server has no such part (416)")
}

private func decideError(status: Int) -> AnswerDecision {
    switch status {
    case 401, 407:
        .fail(
            Rejection(
                why: "the server asks for credentials (\(status))", remedy: "check the source's credentials",
                isOfCredentials: true))
    case 402, 403, 406:
        .fail(
            Rejection(
                why: "the server refuses access (\(status))",
                remedy:
                    "if the address has expired, run again; if the server refuses programs, set user-agent or headers for "
                    + "the source or the subscription; else check the source's credentials",
                isOfCredentials: status == 403))
    case 404, 410:
        .fail(
            Rejection(
                why: "the server does not have the file (\(status))", remedy: "it may come back: run again later",
                isMissing: true))
    case 408, 425, 429, 500, 502, 503, 504, 520...529: .retry("the server answers \(status)")
    case 300..<400: .fail(Rejection(why: "the server answers \(status) without saying where to go"))
    default: .fail(Rejection(why: "the server answers \(status)"))
    }
}

/// Error pages come with 200 too, and have such types as a rule. It is a suspicion only: the bytes decide.
func isTypeOfPages(_ type: String) -> Bool {
    type.hasPrefix("text/") || type.hasSuffix("+json") || type.hasSuffix("+xml")
        || ["application/json", "application/xml", "application/javascript", "multipart/byteranges"].contains(type)
}

extension Rejection {
    static let emptyAnswer = Rejection(
        why: "the server sent an empty file", remedy: "it may be filled later: run again later")

    static func page(_ found: Message) -> Rejection {
        Rejection(
            why: "the server sent \(found) instead of audio, perhaps a login or error page",
            remedy: "open the catalog in a browser and check that you are let in")
    }
}
