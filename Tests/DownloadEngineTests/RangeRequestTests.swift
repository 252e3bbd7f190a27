import BookModel
import Testing

@testable import DownloadEngine
@testable import LibraryFiles

@Suite struct RangeRequestTests {
    private static let tag = "\"v1\""
    private static let date = "Tue, 03 Mar 2020 10:00:00 GMT"

    @Test(
        arguments: [
            (PartialContent(), false, RangeRequest(first: 0)),
            (PartialContent(), true, RangeRequest(first: 0)),
            (held(.init(entityTag: tag)), false, RangeRequest(first: 400, ifRange: tag)),
            (held(.init(entityTag: tag), total: nil), false, RangeRequest(first: 400, ifRange: tag)),
            (held(.init(entityTag: tag, lastModified: date, age: 9)), false, RangeRequest(first: 400, ifRange: tag)),
            (held(.init(lastModified: date, age: 1)), false, RangeRequest(first: 400, ifRange: date)),
            (held(.init(lastModified: date, age: 0)), false, RangeRequest(first: 0)),
            (held(.init(lastModified: date)), false, RangeRequest(first: 0)),
            (held(.init(entityTag: "W/" + tag)), false, RangeRequest(first: 0)),
            (
                held(.init(entityTag: "W/" + tag, lastModified: date, age: 60)), false,
                RangeRequest(first: 400, ifRange: date)
            ),
            (held(.init()), false, RangeRequest(first: 0)),
            (held(.init()), true, RangeRequest(first: 400)),
            (held(.init(entityTag: "W/" + tag)), true, RangeRequest(first: 400)),
            (held(.init(entityTag: tag)), true, RangeRequest(first: 400, ifRange: tag)),
            (held(.init(entityTag: tag), total: 400), true, RangeRequest(first: 400, ifRange: tag)),
            (held(.init(entityTag: tag), total: 399), true, RangeRequest(first: 0)),
            (held(.init(entityTag: "")), false, RangeRequest(first: 0)),
        ])
    func `a part is asked for only when its answer can be tied to what is held`(
        held: PartialContent, hasDigest: Bool, asked: RangeRequest
    ) {
        #expect(RangeRequest.whatIsMissing(from: held, promised: .init(hasDigest: hasDigest)) == asked)
    }

    @Test(arguments: [(9, 9, true), (8, 9, false), (0, 0, false), (9, nil, false)] as [(Int64, Int64?, Bool)])
    func `what is held is the whole when its length is the known total`(length: Int64, total: Int64?, isWhole: Bool) {
        #expect(PartialContent(length: length, total: total).isWhole == isWhole)
    }

    @Test func `a resumed request carries the validator of what is held`() {
        let asked = RangeRequest.whatIsMissing(from: Self.held(.init(entityTag: Self.tag)), promised: .init())
        #expect(asked.ifRange == Self.tag)
        #expect(asked.range == "bytes=400-")
        #expect(RangeRequest(first: 1).range == "bytes=1-")
        #expect(RangeRequest(first: 0).range == nil)
    }

    private static func held(_ validator: ContentValidator, total: Int64? = 1000) -> PartialContent {
        PartialContent(length: 400, validator: validator, total: total)
    }

    @Test(
        arguments: [
            // Same boot: the whole partial file counts. Another boot: what was committed.
            (300, 700, "boot", "boot", 700), (300, 700, "boot", "other", 300), (300, 700, nil, "boot", 300),
            (300, 700, "boot", nil, 300), (300, 700, nil, nil, 300), (0, 700, "boot", "other", 0),
            // A file shorter than what was committed was cut by somebody: no more than is there.
            (300, 200, "boot", "other", 200), (300, 200, "boot", "boot", 200),
            // The whole is the whole; more than the whole is nothing, unless it is the length of a file in parts.
            (300, 1000, "boot", "boot", 1000), (300, 1002, "boot", "boot", 0), (300, 1002, "boot", "other", 300),
            (300, 1001, "boot", "boot", 300), (0, 1001, "boot", "boot", 0),
            (0, 0, "boot", "boot", 0),
        ] as [(Int64, Int64, String?, String?, Int64)])
    func `after another boot only committed bytes are gone on from`(
        committed: Int64, length: Int64, then: String?, now: String?, expected: Int64
    ) {
        let record = TransferRecord(
            episode: EpisodeIdentity(book: BookIdentity(source: "demo", id: "1"), key: "1"), state: .downloading,
            validator: .init(entityTag: Self.tag), total: 1000, committedLength: committed, bootID: then)
        #expect(record.resumableBytes(ofPartialFile: length, hasDigest: false, bootID: now) == expected)
    }

    @Test func `bytes that nothing vouches for are gone on from only under a digest`() {
        let record = TransferRecord(
            episode: EpisodeIdentity(book: BookIdentity(source: "demo", id: "1"), key: "1"), total: 1000, bootID: "b")
        #expect(record.resumableBytes(ofPartialFile: 700, hasDigest: false, bootID: "b") == 0)
        #expect(record.resumableBytes(ofPartialFile: 700, hasDigest: true, bootID: "b") == 700)
        // With nothing missing, nothing needs to be asked.
        #expect(record.resumableBytes(ofPartialFile: 1000, hasDigest: false, bootID: "b") == 1000)
    }

    @Test func `this boot has an identity`() {
        #expect(BootIdentity.current?.isEmpty == false)
    }
}
