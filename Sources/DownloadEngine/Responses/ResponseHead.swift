import BookModel
import Foundation
import NIOHTTP1
import Transport

/// The parts of an answer's head that decide what becomes of its body.
struct ResponseHead: Equatable, Sendable {
    var status: Int
    var contentRange: ContentRange?
    var contentLength: Int64?
    /// Lower-case, without parameters.
    var contentType: String?
    /// Anything but identity means that the body's bytes are not those of the file.
    var coding = ContentCoding.identity
    var validator = ContentValidator()

    init(
        status: Int, contentRange: ContentRange? = nil, contentLength: Int64? = nil, contentType: String? = nil,
        coding: ContentCoding = .identity, validator: ContentValidator = .init()
    ) {
        self.status = status
        self.contentRange = contentRange
        self.contentLength = contentLength
        self.contentType = contentType
        self.coding = coding
        self.validator = validator
    }

    init(_ answer: HTTPResponse) {
        status = answer.status
        contentRange = answer.first("Content-Range").map(ContentRange.init(parsing:))
        // A transfer coding makes any length meaningless (RFC 9112 §6.3).
        let isChunked = answer.first("Transfer-Encoding") != nil
        contentLength = isChunked ? nil : answer.first("Content-Length").flatMap { Int64($0) }
        contentType = answer.first("Content-Type").map {
            String($0.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }).lowercased()
        }
        coding = ContentCoding(parsing: answer.headers["Content-Encoding"].joined(separator: ","))
        let lastModified = answer.first("Last-Modified")
        var age: Int?
        if let modified = lastModified.flatMap(HTTPDate.seconds(parsing:)),
            let date = answer.first("Date").flatMap(HTTPDate.seconds(parsing:))
        {
            age = Int(clamping: date - modified)
        }
        validator = ContentValidator(entityTag: answer.first("ETag"), lastModified: lastModified, age: age)
    }
}

/// The `Content-Range` field (RFC 9110 §14.4).
enum ContentRange: Equatable, Sendable {
    /// `bytes FIRST-LAST/TOTAL`; the total is nil where the server wrote `*`.
    case bytes(first: Int64, last: Int64, total: Int64?)
    /// `bytes */TOTAL`, of a 416.
    case unsatisfied(total: Int64)
    /// Anything else: another unit, numbers that contradict one another or are absurd.
    case unreadable

    init(parsing text: String) {
        self = Self.parse(text) ?? .unreadable
    }

    private static func parse(_ text: String) -> ContentRange? {
        let words = text.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let total = number(halves[1])
        if halves[0] == "*" { return total.map { .unsatisfied(total: $0) } }
        guard total != nil || halves[1] == "*" else { return nil }
        let bounds = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = number(bounds[0]), let last = number(bounds[1]), first <= last,
            total.map({ last < $0 }) ?? true
        else { return nil }
        return .bytes(first: first, last: last, total: total)
    }

    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int64(text),
            number <= FileSize.max
        else { return nil }
        return number
    }
}
