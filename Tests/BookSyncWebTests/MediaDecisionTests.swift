import Hummingbird
import Testing

@testable import BookSyncWeb

@Suite struct MediaDecisionTests {
    private static let media = MediaRepresentation(
        length: 1000, entityTag: "\"v1\"", lastModified: 1_714_521_600, contentType: "audio/mpeg")
    private static let modified = "Wed, 01 May 2024 00:00:00 GMT"
    private static let earlier = "Tue, 30 Apr 2024 23:59:59 GMT"
    private static let later = "Wed, 01 May 2024 00:00:01 GMT"
    private static let range = "bytes=10-19"

    /// The fields of a request that decide which part of a representation is the answer.
    private struct MediaConditions {
        var ifMatch: String?
        var ifUnmodifiedSince: String?
        var ifNoneMatch: String?
        var ifModifiedSince: String?
        var ifRange: String?
        var range: String?
        var isHead = false

        var request: Request {
            var fields = HTTPFields()
            (fields[.ifMatch], fields[.ifUnmodifiedSince]) = (ifMatch, ifUnmodifiedSince)
            (fields[.ifNoneMatch], fields[.ifModifiedSince]) = (ifNoneMatch, ifModifiedSince)
            (fields[.ifRange], fields[.range]) = (ifRange, range)
            let head = HTTPRequest(
                method: isHead ? .head : .get, scheme: nil, authority: nil, path: "/", headerFields: fields)
            return Request(head: head, body: RequestBody(buffer: ByteBuffer()))
        }
    }

    private func decide(_ conditions: MediaConditions, secondsAfter: Int64 = 1_000_000) -> MediaDecision {
        MediaDecision.decide(
            conditions.request, for: Self.media, now: (Self.media.lastModified ?? 0) + secondsAfter)
    }

    @Test func `without conditions the whole is the answer, or the range`() {
        #expect(decide(MediaConditions()) == .whole)
        #expect(decide(MediaConditions(range: Self.range)) == .part(10..<20))
        #expect(decide(MediaConditions(range: "bytes=1000-")) == .unsatisfiable)
        #expect(decide(MediaConditions(range: "bytes=1-2,4-5")) == .whole)
        #expect(decide(MediaConditions(range: Self.range, isHead: true)) == .whole)
    }

    @Test(
        arguments: [
            ("\"v1\"", MediaDecision.part(10..<20)), ("\"v2\"", .whole), ("W/\"v1\"", .whole),
            (modified, .part(10..<20)),
            (later, .whole), (earlier, .whole), ("nonsense", .whole),
            ("Wednesday, 01-May-24 00:00:00 GMT", .part(10..<20)),
        ])
    func `a range is given only of the version that If-Range names`(validator: String, answer: MediaDecision) {
        #expect(decide(MediaConditions(ifRange: validator, range: Self.range)) == answer)
        // Without a Range there is nothing to decide.
        #expect(decide(MediaConditions(ifRange: validator)) == .whole)
    }

    @Test func `another version's range is never unsatisfiable`() {
        #expect(decide(MediaConditions(ifRange: "\"v2\"", range: "bytes=5000-")) == .whole)
    }

    @Test func `a modification time of this very second is no strong validator`() {
        let conditions = MediaConditions(ifRange: Self.modified, range: Self.range)
        #expect(decide(conditions, secondsAfter: 0) == .whole)
        #expect(decide(conditions, secondsAfter: 1) == .part(10..<20))
    }

    @Test(
        arguments: [
            ("\"v1\"", MediaDecision.notModified), ("W/\"v1\"", .notModified), ("*", .notModified),
            ("\"v0\", \"v1\"", .notModified), ("\"a,b\",W/\"v1\"", .notModified), ("\"v2\"", .whole), ("v1", .whole),
            ("", .whole), ("x\", \"v1\"", .whole),
        ])
    func `If-None-Match compares weakly`(tags: String, answer: MediaDecision) {
        #expect(decide(MediaConditions(ifNoneMatch: tags)) == answer)
        // A time beside it is not looked at.
        #expect(decide(MediaConditions(ifNoneMatch: tags, ifModifiedSince: Self.later)) == answer)
    }

    @Test(arguments: [
        (modified, MediaDecision.notModified), (later, .notModified), (earlier, .whole), ("soon", .whole),
    ])
    func `If-Modified-Since asks whether it is newer`(time: String, answer: MediaDecision) {
        #expect(decide(MediaConditions(ifModifiedSince: time)) == answer)
    }

    @Test func `a condition that fails stops what follows`() {
        #expect(decide(MediaConditions(ifMatch: "\"v2\"", range: Self.range)) == .preconditionFailed)
        #expect(decide(MediaConditions(ifMatch: "W/\"v1\"")) == .preconditionFailed)
        #expect(decide(MediaConditions(ifMatch: "\"v1\"", range: Self.range)) == .part(10..<20))
        #expect(decide(MediaConditions(ifMatch: "*", ifUnmodifiedSince: Self.earlier)) == .whole)
        #expect(decide(MediaConditions(ifUnmodifiedSince: Self.earlier)) == .preconditionFailed)
        #expect(decide(MediaConditions(ifUnmodifiedSince: Self.modified)) == .whole)
        #expect(decide(MediaConditions(ifNoneMatch: "\"v1\"", range: "bytes=5000-")) == .notModified)
    }
}
