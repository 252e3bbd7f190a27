import BookModel
import Foundation
import Support
import Testing
import Transport

@testable import DownloadEngine

/// RFC 9110 §13.1.5, §14.2, §15.3.7 and §15.5.17, one row for each thing a server may say.
@Suite struct AnswerDecisionTests {
    /// What becomes of the answer, without its words.
    enum Outcome: Equatable {
        /// - `last`: where the body ends, where that is before the end of the file.
        case append(Int64?, last: Int64? = nil, overlap: Int64 = 0)
        case replace(Int64?)
        case replaceDecoded(ContentCoding)
        case complete(Int64)
        case unchanged, restart, retry, fail

        init(_ decision: AnswerDecision) {
            self =
                switch decision {
                case .append(let total, let last, let overlap):
                    .append(total, last: last + 1 == total ? nil : last, overlap: overlap)
                case .replace(let total, .identity): .replace(total)
                case .replace(_, let coding): .replaceDecoded(coding)
                case .complete(let total): .complete(total)
                case .unchanged: .unchanged
                case .restart: .restart
                case .retry: .retry
                case .fail: .fail
                }
        }

        /// Its case alone.
        var name: String { "\(self)".prefix { $0 != "(" }.description }
    }

    struct Row: CustomTestStringConvertible, Sendable {
        var what: String
        var existing = PartialContent.begun
        var promised = PromisedContent()
        var head: ResponseHead
        var outcome: Outcome

        init(
            _ what: String, _ head: ResponseHead, existing: PartialContent = .begun,
            promised: PromisedContent = .init(),
            _ outcome: Outcome
        ) {
            (self.what, self.head, self.existing, self.promised, self.outcome) = (
                what, head, existing, promised, outcome
            )
        }

        var testDescription: String { what }
    }

    @Test(arguments: wholes + parts + validators + unsatisfied + statuses)
    func `an answer's head decides`(row: Row) {
        let asked = RangeRequest.whatIsMissing(from: row.existing, promised: row.promised)
        let decision = decide(existing: row.existing, asked: asked, head: row.head, promised: row.promised)
        #expect(Outcome(decision) == row.outcome, "\(decision)")
    }

    @Test func `the table names nothing twice, and has every outcome`() {
        let rows = Self.wholes + Self.parts + Self.validators + Self.unsatisfied + Self.statuses
        #expect(Set(rows.map(\.what)).count == rows.count)
        #expect(
            Set(rows.map(\.outcome.name)) == [
                "append", "replace", "replaceDecoded", "complete", "unchanged", "restart", "retry", "fail",
            ])
    }

    @Test func `every refusal says why in words without a capital or a stop`() {
        for row in Self.wholes + Self.parts + Self.validators + Self.unsatisfied + Self.statuses {
            let asked = RangeRequest.whatIsMissing(from: row.existing, promised: row.promised)
            switch decide(existing: row.existing, asked: asked, head: row.head, promised: row.promised) {
            case .restart(let why), .retry(let why):
                #expect(why.description.hasPrefix("the ") && !why.description.hasSuffix("."))
            case .fail(let refusal):
                #expect(refusal.why.description.hasPrefix("the ") && !refusal.why.description.hasSuffix("."))
            case .append, .replace, .complete, .unchanged: break
            }
        }
    }

    @Test(arguments: [401, 403, 407])
    func `credentials are at fault where the server says so`(status: Int) {
        #expect(refusal(of: status)?.isOfCredentials == true)
        #expect(refusal(of: status)?.remedy != nil)
    }

    @Test(arguments: [400, 402, 404, 410, 300, 418])
    func `no other refusal is one of credentials, and two mean that the file is not there`(status: Int) {
        #expect(refusal(of: status)?.isOfCredentials == false)
        #expect(refusal(of: status)?.isMissing == [404, 410].contains(status))
    }

    @Test func `a redirect that leads nowhere is told from other refusals`() {
        for status in [300, 305, 399] { #expect(refusal(of: status)?.why.description.hasSuffix("where to go") == true) }
        for status in [299, 400] { #expect(refusal(of: status)?.why.description == "the server answers \(status)") }
    }

    private func refusal(of status: Int) -> Rejection? {
        let decision = decide(existing: .nothing, asked: RangeRequest(first: 0), head: ResponseHead(status: status))
        if case .fail(let refusal) = decision { return refusal }
        return nil
    }

    /// Against 1000 bytes received before: the catalog's size, and its date in seconds after theirs.
    @Test(
        arguments: [
            (nil, nil, false), (1000, nil, false), (1001, nil, true), (1000, 0, false), (1000, 1, true), (nil, 1, true),
        ] as [(Int64?, Double?, Bool)])
    func `another size or a later date is another version`(size: Int64?, later: Double?, isAnother: Bool) {
        var episode = Episode.sample(1, size: size)
        episode.modifiedAt = later.map { Date(timeIntervalSince1970: 1_583_229_600 + $0) }
        #expect(episode.listsAnotherVersion(than: .begun(.dated)) == isAnother)
        // A digest will tell.
        episode.digest = ContentDigest(algorithm: .md5, hexadecimal: "aa")
        #expect(!episode.listsAnotherVersion(than: .begun(.dated)))
    }

    // MARK: Pieces

    /// What an answer to `Range: bytes=400-599` of 1000 bytes is worth.
    static let pieces: [Row] = [
        Row("the piece asked for", .part(400, 599, 1000), .append(1000, last: 599)),
        Row("the piece asked for, of unknown total", .part(400, 599, nil), .append(1000, last: 599)),
        Row("a piece that begins earlier", .part(390, 599, 1000), .append(1000, last: 599, overlap: 10)),
        Row("a piece that begins later", .part(401, 599, 1000), .restart),
        Row("a piece that ends earlier", .part(400, 598, 1000), .append(1000, last: 598)),
        Row("a piece that ends later", .part(400, 600, 1000), .restart),
        Row("the whole rest", .part(400, 999, 1000), .restart),
        Row("a piece of another version", .piece(.otherStrong), .restart),
        Row("a piece of another length", .part(400, 599, 1001), .restart),
        Row("a piece without its validator", .piece(.init()), .restart),
        Row(
            "a piece of the same date", .piece(.dated), existing: .begun(.init(lastModified: old, age: 1)),
            .append(1000, last: 599)),
        Row(
            "a piece of the same date, too young to tell", .piece(.dated),
            existing: .begun(.init(lastModified: old, age: 0)), .restart),
        Row("the whole instead", .whole(1000, .strong), .replace(1000)),
        Row("no such piece", .none416(300), .restart),
        Row("too busy for a piece", ResponseHead(status: 503), .retry),
        Row("a piece refused", ResponseHead(status: 403), .fail),
    ]

    @Test(arguments: pieces)
    func `an answer's head decides about a piece`(row: Row) {
        let asked = RangeRequest(first: 400, last: 599, ifRange: "\"v1\"")
        #expect(asked.range == "bytes=400-599")
        #expect(Outcome(decide(existing: row.existing, asked: asked, head: row.head)) == row.outcome)
    }

    @Test func `the first piece of nothing held is asked for by its range`() {
        let asked = RangeRequest(first: 0, last: 199, ifRange: "\"v1\"")
        let existing = PartialContent(length: 0, validator: PartialContent.begun.validator, total: 1000)
        #expect(asked.range == "bytes=0-199")
        let decision = decide(existing: existing, asked: asked, head: .part(0, 199, 1000))
        #expect(Outcome(decision) == .append(1000, last: 199))
    }

    // MARK: 200 and its like

    static let wholes: [Row] = [
        Row("200 with a length", .whole(1000), existing: .nothing, .replace(1000)),
        Row("200 without a length", .whole(nil), existing: .nothing, .replace(nil)),
        Row("200 instead of 206", .whole(1000), existing: .begun(600), .append(1000, overlap: 600)),
        Row("200 instead of 206, where hardly anything is held", .whole(1000), .replace(1000)),
        Row("200 instead of 206, of another length", .whole(1001), .replace(1001)),
        Row("200 instead of 206, of what is held", .whole(600), existing: .begun(600, of: nil), .replace(600)),
        Row(
            "200 instead of 206 under the same tag", .whole(1000, .strong), existing: .begun(600),
            .append(1000, overlap: 600)),
        Row("200 instead of 206 under another tag", .whole(1000, .otherStrong), .replace(1000)),
        Row("200 of another length", .whole(900), .replace(900)),
        Row("203 from a proxy", ResponseHead(status: 203, contentLength: 1000), existing: .nothing, .replace(1000)),
        Row("200 with a stray Content-Range", .stray, existing: .nothing, .replace(1000)),
        Row("200 and empty", .whole(0), existing: .nothing, .fail),
        Row("200 of a tebibyte", .whole(1 << 40), existing: .nothing, .replace(1 << 40)),
        Row("200 of more than any file has", .whole(1 << 40 + 1), existing: .nothing, .fail),
        Row("200 of as much as can be written", .whole(.max), .fail),
        Row("200 and empty while bytes are held", .whole(0), .fail),
        Row("200 and empty as the catalog says", .whole(0), existing: .nothing, promised: .init(size: 0), .replace(0)),
        Row("200 and empty against the catalog", .whole(0), existing: .nothing, promised: .init(size: 9), .fail),
        Row(
            "200 of another length than the catalog says", .whole(7), existing: .nothing, promised: .init(size: 9),
            .replace(7)
        ),
        Row("200 that is called HTML", .whole(1000, type: "text/html"), existing: .nothing, .replace(1000)),
        Row(
            "200 that is called HTML while bytes are held", .whole(1000, type: "text/html"), existing: .begun(600),
            .append(1000, overlap: 600)),
        Row("200 that is called plain text", .whole(1000, type: "text/plain"), existing: .nothing, .replace(1000)),
        Row("200 that is called CSV", .whole(1000, type: "text/csv"), existing: .nothing, .replace(1000)),
        Row("200 that is called JSON", .whole(1000, type: "application/json"), existing: .nothing, .replace(1000)),
        Row(
            "200 that is called a problem document", .whole(1000, type: "application/problem+json"), existing: .nothing,
            .replace(1000)),
        Row("200 that is called XML", .whole(1000, type: "application/xml"), existing: .nothing, .replace(1000)),
        Row(
            "200 that is called XHTML", .whole(1000, type: "application/xhtml+xml"), existing: .nothing, .replace(1000)),
        Row("200 of several parts", .whole(1000, type: "multipart/byteranges"), existing: .nothing, .replace(1000)),
        Row("200 that is MPEG audio", .whole(1000, type: "audio/mpeg"), existing: .nothing, .replace(1000)),
        Row("200 that is called a video", .whole(1000, type: "video/mp4"), existing: .nothing, .replace(1000)),
        Row("200 of any octets", .whole(1000, type: "application/octet-stream"), existing: .nothing, .replace(1000)),
        Row(
            "200 for a forced download", .whole(9, type: "application/force-download"), existing: .nothing, .replace(9)),
        Row("200 that is compressed", .whole(1000, coding: .gzip), existing: .nothing, .replaceDecoded(.gzip)),
        Row("200 that is compressed while bytes are held", .whole(1000, coding: .gzip), .replaceDecoded(.gzip)),
        Row("200 that is deflated, without a length", .whole(nil, coding: .deflate), .replaceDecoded(.deflate)),
        Row("200 that is compressed and empty", .whole(0, coding: .gzip), existing: .nothing, .fail),
        Row(
            "200 that is called compressed HTML", .whole(9, type: "text/html", coding: .gzip), existing: .nothing,
            .replaceDecoded(.gzip)),
        Row(
            "200 that is compressed in a way not known", .whole(1000, coding: .unknown("br")), existing: .nothing,
            .replaceDecoded(.unknown("br"))
        ),
        Row(
            "200 that is compressed in such a way while bytes are held", .whole(1000, coding: .unknown("zstd")),
            .replaceDecoded(.unknown("zstd"))),
    ]

    // MARK: 206

    static let parts: [Row] = [
        Row("206 as asked", .part(400, 999, 1000), .append(1000)),
        Row("206 as asked with its length", .part(400, 999, 1000, length: 600), .append(1000)),
        Row("206 of the last byte", .part(999, 999, 1000), existing: .begun(999), .append(1000)),
        Row("206 later than asked", .part(401, 999, 1000), .restart),
        Row("206 much later than asked", .part(800, 999, 1000), .restart),
        Row("206 earlier than asked", .part(399, 999, 1000), .append(1000, overlap: 1)),
        Row("206 from the first byte on", .part(0, 999, 1000), .append(1000, overlap: 400)),
        Row("206 that ends before what was asked", .part(100, 399, 1000), .restart),
        Row("206 when the whole was asked for", .part(0, 999, 1000), existing: .nothing, .restart),
        Row(
            "206 when the whole was asked for, a digest will tell", .part(0, 999, 1000), existing: .nothing,
            promised: .digest, .restart),
        Row("206 when nothing could be asked for", .part(400, 999, 1000), existing: .unvalidated, .restart),
        Row("206 without Content-Range", ResponseHead(status: 206, validator: .strong), .restart),
        Row("206 with */total", .part(.unsatisfied(total: 1000)), .restart),
        Row("206 with an unreadable range", .part(.unreadable), .restart),
        Row("206 that ends early", .part(400, 899, 1000), .append(1000, last: 899)),
        Row("206 of an unknown total, a total being known", .part(400, 999, nil), .append(1000)),
        Row(
            "206 of an unknown total, none being known", .part(400, 999, nil), existing: .begun(400, of: nil),
            .append(nil, last: 999)),
        Row("206 past the known total", .part(400, 1000, nil), .restart),
        Row("206 that tells the total first", .part(400, 999, 1000), existing: .begun(400, of: nil), .append(1000)),
        Row("206 of a longer total", .part(400, 1999, 2000), .restart),
        Row("206 of a shorter total", .part(400, 899, 900), .restart),
        Row("206 whose length is less than its range", .part(400, 999, 1000, length: 599), .restart),
        Row("206 whose length is more than its range", .part(400, 999, 1000, length: 1000), .restart),
        Row("206 that is compressed", .part(400, 999, 1000, coding: .gzip), .restart),
        Row("206 that is compressed in a way not known", .part(400, 999, 1000, coding: .unknown("br")), .restart),
        Row("206 of several parts without a range", .part(nil, type: "multipart/byteranges"), .restart),
        Row("206 of several parts with a range", .part(400, 999, 1000, type: "multipart/byteranges"), .restart),
        Row("206 of any type", .part(400, 999, 1000, type: "application/octet-stream"), .append(1000)),
        Row("206 behind more than the total", .part(1200, 1299, 1300), existing: .begun(1200, of: 1000), .restart),
    ]

    // MARK: 206 and whose part it is

    static let validators: [Row] = [
        Row("the same strong tag", .part(.strong), .append(1000)),
        Row("another strong tag", .part(.otherStrong), .restart),
        Row("another strong tag, a digest will tell", .part(.otherStrong), promised: .digest, .append(1000)),
        Row("the tag made weak", .part(.weak), .restart),
        Row("no tag any more", .part(.init()), .restart),
        Row("no tag any more, the same date", .part(.dated), .restart),
        Row("the tag kept, the date changed", .part(.init(entityTag: "\"v1\"", lastModified: later)), .append(1000)),
        Row("no tag ever, the same old date", .part(.dated), existing: .begun(.dated), .append(1000)),
        Row(
            "no tag ever, another date", .part(.init(lastModified: later, age: 99)), existing: .begun(.dated), .restart),
        Row("no tag ever, no date any more", .part(.init()), existing: .begun(.dated), .restart),
        Row("a tag now, the same old date", .part(.taggedDated), existing: .begun(.dated), .append(1000)),
        Row("a date too young to tell", .part(.dated), existing: .begun(.init(lastModified: old, age: 0)), .restart),
        Row("a date of unknown age", .part(.dated), existing: .begun(.init(lastModified: old)), .restart),
        Row("the same weak tag and old date", .part(.weakDated), existing: .begun(.weakDated), .append(1000)),
        Row("another weak tag, the same old date", .part(.otherWeakDated), existing: .begun(.weakDated), .restart),
        Row("the same weak tag alone", .part(.weak), existing: .begun(.weak), .restart),
        Row(
            "the same weak tag alone, a digest will tell", .part(.weak), existing: .begun(.weak), promised: .digest,
            .append(1000)),
        Row(
            "nothing to tell by, a digest will tell", .part(.init()), existing: .unvalidated, promised: .digest,
            .append(1000)),
        Row("another total, even with a digest", .part(400, 1999, 2000), promised: .digest, .restart),
        Row("a later start, even with a digest", .part(500, 999, 1000), promised: .digest, .restart),
    ]

    // MARK: 416

    static let unsatisfied: [Row] = [
        Row("416 with what is held, a digest will tell", .none416(400), promised: .digest, .complete(400)),
        Row("416 with what the catalog says", .none416(400), promised: .init(size: 400), .complete(400)),
        Row("416 with what is on disk, under If-Range", .none416(400), .complete(400)),
        Row(
            "416 with what is on disk, and the same tag", .none416(400, .strong), promised: .init(size: 1000),
            .complete(400)),
        Row("416 with what is on disk, and another tag", .none416(400, .otherStrong), .restart),
        Row(
            "416 with what is on disk, the catalog says more", .none416(400), promised: .init(size: 1000),
            .complete(400)),
        Row("416 with a smaller total", .none416(300), promised: .init(size: 300), .restart),
        Row("416 with a larger total", .none416(500), promised: .digest, .restart),
        Row("416 with total 0", .none416(0), promised: .digest, .restart),
        Row("416 without a total", ResponseHead(status: 416), promised: .digest, .restart),
        Row(
            "416 with a range", ResponseHead(status: 416, contentRange: .bytes(first: 0, last: 9, total: 400)),
            promised: .digest, .restart),
        Row(
            "416 with an unreadable range", ResponseHead(status: 416, contentRange: .unreadable), promised: .digest,
            .restart),
        Row("416 to a request without a range", .none416(400), existing: .nothing, promised: .digest, .fail),
    ]

    // MARK: Everything else

    static let statuses: [Row] =
        [304].map { Row("\($0)", ResponseHead(status: $0), existing: .nothing, .unchanged) }
        + [408, 425, 429, 500, 502, 503, 504, 520, 522, 529].map { Row("\($0)", ResponseHead(status: $0), .retry) }
        + [
            201, 202, 204, 205, 207, 299, 300, 301, 302, 303, 305, 308, 399, 400, 401, 402, 403, 404, 405, 407, 409,
            410, 411, 412, 415, 417, 418, 424, 426, 428, 430, 451, 499, 501, 505, 519, 530,
        ].map {
            Row("\($0)", ResponseHead(status: $0), .fail)
        }
        + [
            Row(
                "an error page with a range",
                ResponseHead(status: 500, contentRange: .bytes(first: 400, last: 999, total: 1000)), .retry),
            Row("a 404 of audio", ResponseHead(status: 404, contentLength: 1000, contentType: "audio/mpeg"), .fail),
        ]

    private static let old = ContentValidator.oldDate
    private static let later = "Wed, 04 Mar 2020 10:00:00 GMT"
}

extension ContentValidator {
    fileprivate static let oldDate = "Tue, 03 Mar 2020 10:00:00 GMT"
    fileprivate static let strong = ContentValidator(entityTag: "\"v1\"")
    fileprivate static let otherStrong = ContentValidator(entityTag: "\"v2\"")
    fileprivate static let weak = ContentValidator(entityTag: "W/\"v1\"")
    fileprivate static let dated = ContentValidator(lastModified: oldDate, age: 3600)
    fileprivate static let taggedDated = ContentValidator(entityTag: "\"v1\"", lastModified: oldDate, age: 3600)
    fileprivate static let weakDated = ContentValidator(entityTag: "W/\"v1\"", lastModified: oldDate, age: 3600)
    fileprivate static let otherWeakDated = ContentValidator(entityTag: "W/\"v2\"", lastModified: oldDate, age: 3600)
}

extension PartialContent {
    fileprivate static let nothing = PartialContent()
    /// 400 bytes of 1000, under a strong tag.
    fileprivate static let begun = PartialContent(length: 400, validator: .strong, total: 1000)
    fileprivate static let unvalidated = PartialContent(length: 400, total: 1000)

    fileprivate static func begun(_ length: Int64, of total: Int64? = 1000) -> PartialContent {
        PartialContent(length: length, validator: .strong, total: total)
    }

    fileprivate static func begun(_ validator: ContentValidator) -> PartialContent {
        PartialContent(length: 400, validator: validator, total: 1000)
    }
}

extension PromisedContent {
    fileprivate static let digest = PromisedContent(hasDigest: true)
}

extension ResponseHead {
    fileprivate static let stray = ResponseHead(
        status: 200, contentRange: .bytes(first: 5, last: 9, total: 10), contentLength: 1000)

    fileprivate static func whole(
        _ length: Int64?, _ validator: ContentValidator = .strong, type: String? = "audio/mpeg",
        coding: ContentCoding = .identity
    ) -> ResponseHead {
        ResponseHead(status: 200, contentLength: length, contentType: type, coding: coding, validator: validator)
    }

    fileprivate static func part(
        _ first: Int64, _ last: Int64, _ total: Int64?, length: Int64? = nil, type: String? = "audio/mpeg",
        coding: ContentCoding = .identity
    ) -> ResponseHead {
        ResponseHead(
            status: 206, contentRange: .bytes(first: first, last: last, total: total), contentLength: length,
            contentType: type, coding: coding, validator: .strong)
    }

    fileprivate static func part(_ range: ContentRange?, type: String? = nil) -> ResponseHead {
        ResponseHead(status: 206, contentRange: range, contentType: type, validator: .strong)
    }

    /// The rest of 1000 bytes from 400 on.
    fileprivate static func part(_ validator: ContentValidator) -> ResponseHead {
        ResponseHead(
            status: 206, contentRange: .bytes(first: 400, last: 999, total: 1000), contentLength: 600,
            validator: validator)
    }

    fileprivate static func piece(_ validator: ContentValidator) -> ResponseHead {
        ResponseHead(
            status: 206, contentRange: .bytes(first: 400, last: 599, total: 1000), contentLength: 200,
            validator: validator)
    }

    fileprivate static func none416(_ total: Int64, _ validator: ContentValidator = .init()) -> ResponseHead {
        ResponseHead(status: 416, contentRange: .unsatisfied(total: total), validator: validator)
    }
}
