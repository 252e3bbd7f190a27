import BookModel
import DownloadEngine
import Foundation
import Support
import Testing

/// Cases 1–12 of the download cases: what a server may answer to a resume. The numbers are theirs.
@Suite(.limitedConcurrency) struct RangeCaseTests {
    private let bytes = sampleMP3(bytes: 120_000)
    private let other = sampleMP3(bytes: 120_000, seed: 2)

    @Test func `a good server sends just the rest`() async throws {
        try await withBench(.file(bytes)) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.resumed])
            #expect(report.receipts.first?.bytesReused == 50_000)
            #expect(report.bytesReceived == 70_000)
            let request = try #require(bench.server.requests(path: "/a.mp3").first)
            #expect(request.header("Range") == "bytes=50000-")
            #expect(request.header("If-Range") == "\"v1\"")
            #expect(request.header("Accept-Encoding") == "identity")
            #expect(try bench.file() == bytes)
            #expect(try bench.partialNames() == [])
            let file = try #require(try await bench.recordedFile(of: episode))
            #expect(file.sha256 == sha256(bytes))
            #expect(file.size == 120_000)
            #expect(file.verification == .length)
            #expect(try await bench.record(of: episode) == nil)
        }
    }

    @Test func `case 1: 200 instead of 206 restarts from this very answer`() async throws {
        try await withBench(.file(bytes, [.ignoreRange])) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.fetched])
            #expect(report.receipts.first?.bytesReused == 0)
            #expect(ranges(bench.server) == ["bytes=50000-"])
            #expect(try bench.file() == bytes)
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 120_000)
        }
    }

    @Test func `case 1: 200 of the version that is held, and cut, loses nothing of that`() async throws {
        try await withBench(.file(bytes, [.both(.ignoreRange, .cut(at: 20_000)), .wellBehaved])) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.resumed])
            #expect(ranges(bench.server) == ["bytes=50000-", "bytes=50000-"])
            #expect(try bench.file() == bytes)
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 20_000 + 70_000)
        }
    }

    @Test func `case 1: a server that gets a little farther with each whole answer is not given up`() async throws {
        let cuts = [60_000, 68_000, 75_000, 81_000, 86_000, 90_000].map { Deed.both(.ignoreRange, .cut(at: $0)) }
        try await withBench(.file(bytes, cuts + [.ignoreRange]), retries: 3) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `case 1: 200 of other bytes under the same validator restarts once`() async throws {
        var held = Array(bytes[..<50_000])
        held[49_999] ^= 1
        try await expectRestart(after: .ignoreRange, held: held)
    }

    @Test func `case 2: 206 starting later than asked is refused`() async throws {
        let later = Deed.change { reply, _ in
            reply.body.removeFirst(100)
            reply.setHeader("Content-Range", "bytes 50100-119999/120000")
        }
        try await expectRestart(after: later)
    }

    /// Begins so many bytes before what was asked for.
    private func earlier(by count: Int, from bytes: [UInt8]) -> Deed {
        .change { reply, _ in
            let first = 50_000 - count
            reply.body = Array(bytes[first...])
            reply.setHeader("Content-Range", "bytes \(first)-119999/120000")
        }
    }

    @Test(arguments: [1, 100, 20_000, 50_000])
    func `case 3: 206 starting earlier than asked is joined where the bytes agree`(overlap: Int) async throws {
        try await withBench(.file(bytes, [earlier(by: overlap, from: bytes)])) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [overlap < 50_000 ? .resumed : .fetched], "\(report.sentences)")
            #expect(report.receipts.first?.bytesReused == Int64(50_000 - overlap))
            #expect(report.bytesReceived == Int64(70_000 + overlap))
            #expect(ranges(bench.server) == ["bytes=50000-"])
            #expect(try bench.file() == bytes)
        }
    }

    @Test(arguments: [1, 100, 20_000, 50_000])
    func `case 3: 206 starting earlier than asked restarts once where they do not`(overlap: Int) async throws {
        // What is held is another version's; its very last byte differs for certain.
        var held = Array(bytes[..<50_000])
        held[49_999] ^= 1
        try await expectRestart(after: earlier(by: overlap, from: bytes), held: held)
    }

    @Test func `case 3: an overlap that is cut short adds nothing`() async throws {
        let deed = Deed.both(earlier(by: 20_000, from: bytes), .cut(at: 10_000))
        try await withBench(.file(bytes, [deed, .wellBehaved])) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            #expect(try await bench.fetch(episode).outcomes == [.resumed])
            #expect(ranges(bench.server) == ["bytes=50000-", "bytes=50000-"])
            #expect(try bench.file() == bytes)
        }
    }

    @Test(
        arguments: [
            nil, "bytes */120000", "bytes 119999-50000/120000", "bytes 50000-119999/119999",
            "items 50000-119999/120000",
            "bytes 50000-119999", "50000-119999/120000",
        ] as [String?])
    func `case 4: 206 with a Content-Range that says nothing is refused`(field: String?) async throws {
        try await expectRestart(after: .header("Content-Range", field))
    }

    @Test(arguments: [true, false])
    func `case 4: 206 of several parts is refused`(withRange: Bool) async throws {
        let type = Deed.header("Content-Type", "multipart/byteranges; boundary=x")
        try await expectRestart(after: withRange ? type : .both(type, .header("Content-Range", nil)))
    }

    @Test func `case 4: 206 of an unknown total is taken`() async throws {
        try await withBench(.file(bytes, [.header("Content-Range", "bytes 50000-119999/*")])) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            #expect(try await bench.fetch(episode).outcomes == [.resumed])
            #expect(ranges(bench.server).count == 1)
            #expect(try bench.file() == bytes)
        }
    }

    /// The first answer is of no use: then the whole is asked for, once, and nothing of the two is mixed.
    private func expectRestart(after deed: Deed, held: [UInt8]? = nil, total: Int64? = 120_000) async throws {
        try await withBench(.file(bytes, [deed, .wellBehaved])) { bench in
            let episode = bench.episode()
            try await bench.leave(held ?? Array(other[..<50_000]), of: episode, total: total)
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(ranges(bench.server) == ["bytes=50000-", nil])
            #expect(try bench.file() == bytes)
            #expect(try await bench.recordedFile(of: episode)?.sha256 == sha256(bytes))
        }
    }

    @Test(arguments: [100_000, 130_000] as [Int64])
    func `case 5: another total than before restarts`(total: Int64) async throws {
        try await expectRestart(after: .wellBehaved, total: total)
    }

    @Test func `case 6: a changed tag and a server that honours If-Range restart from its answer`() async throws {
        try await withBench(.file(bytes, etag: "\"v2\"")) { bench in
            let episode = bench.episode()
            try await bench.leave(other[..<50_000], of: episode)
            #expect(try await bench.fetch(episode).outcomes == [.fetched])
            #expect(ranges(bench.server) == ["bytes=50000-"])
            #expect(try bench.file() == bytes)
            #expect(try await bench.recordedFile(of: episode)?.validator.entityTag == "\"v2\"")
        }
    }

    @Test func `case 6: a changed tag and a server that ignores If-Range restart`() async throws {
        try await expectRestart(after: .both(.ignoreIfRange, .header("ETag", "\"v2\"")))
    }

    @Test func `case 6: a server that sends no tag any more restarts`() async throws {
        try await expectRestart(after: .both(.ignoreIfRange, .header("ETag", nil)))
    }

    @Test func `case 7: a weak tag resumes by the strong date`() async throws {
        try await withBench(.file(bytes, etag: "W/\"v1\"")) { bench in
            let episode = bench.episode()
            let weak = ContentValidator(entityTag: "W/\"v1\"", lastModified: ServedFile.longAgo, age: 60)
            try await bench.leave(bytes[..<50_000], of: episode, validator: weak)
            #expect(try await bench.fetch(episode).outcomes == [.resumed])
            #expect(bench.server.requests(path: "/a.mp3").map { $0.header("If-Range") } == [ServedFile.longAgo])
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `case 7: a weak tag alone asks for the whole`() async throws {
        try await withBench(.file(bytes, etag: "W/\"v1\"", lastModified: nil)) { bench in
            let episode = bench.episode()
            try await bench.leave(other[..<50_000], of: episode, validator: .init(entityTag: "W/\"v1\""))
            #expect(try await bench.fetch(episode).outcomes == [.fetched])
            #expect(ranges(bench.server) == [nil])
            #expect(try bench.file() == bytes)
        }
    }

    @Test(arguments: [true, false])
    func `case 7: a weak tag alone resumes when the catalog's digest verifies the whole`(isRight: Bool) async throws {
        let digest = ContentDigest(algorithm: .sha256, hexadecimal: sha256(bytes))
        try await withBench(.file(bytes, etag: "W/\"v1\"", lastModified: nil)) { bench in
            let episode = bench.episode(digest: digest)
            let held = isRight ? bytes : other
            try await bench.leave(held[..<50_000], of: episode, validator: .init(entityTag: "W/\"v1\""))
            #expect(try await bench.fetch(episode).outcomes == [isRight ? .resumed : .fetched])
            #expect(ranges(bench.server) == (isRight ? ["bytes=50000-"] : ["bytes=50000-", nil]))
            #expect(try bench.file() == bytes)
            #expect(try await bench.recordedFile(of: episode)?.verification == .digest)
        }
    }

    @Test(arguments: [true, false])
    func `case 8: a tag that differs with every answer restarts once`(honoursIfRange: Bool) async throws {
        let bytes = bytes
        let script = ServerScript { request in
            var request = request
            if !honoursIfRange { request.headers.removeAll { $0.name == "If-Range" } }
            var reply = ServedFile(bytes, etag: "\"node-\(request.number)\"").answer(to: request)
            if request.number == 0 { reply.ending = .cutAfter(bytes: 50_000) }
            return reply
        }
        try await withBench(script) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.outcomes == [.fetched])
            #expect(ranges(bench.server) == (honoursIfRange ? [nil, "bytes=50000-"] : [nil, "bytes=50000-", nil]))
            #expect(try bench.file() == bytes)
            let remarks = try #require(report.receipts.first?.remarks)
            #expect(
                remarks.count == 1 && remarks[0].description.contains("another ETag with each answer"), "\(remarks)")
        }
    }

    @Test func `case 8: it is told too when the tag changed since an earlier run, and not of a changed file`()
        async throws
    {
        for lastModified in [ServedFile.longAgo, "Wed, 04 Mar 2020 10:00:00 GMT"] {
            try await withBench(.file(bytes, etag: "\"node-2\"", lastModified: lastModified)) { bench in
                let episode = bench.episode()
                try await bench.leave(bytes[..<50_000], of: episode)
                let report = try await bench.fetch(episode)
                #expect(report.outcomes == [.fetched])
                let isReported = lastModified == ServedFile.longAgo
                #expect(report.receipts.first?.remarks.isEmpty == !isReported)
                #expect(try bench.file() == bytes)
            }
        }
    }

    @Test func `a server with steady tags is not remarked upon, however often it cuts`() async throws {
        try await withBench(.file(bytes, [.cut(at: 50_000), .cut(at: 20_000), .wellBehaved])) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.receipts.first?.remarks == [])
        }
    }

    @Test func `case 9: 200 to every If-Range is accepted`() async throws {
        try await withBench(.file(bytes, [.cut(at: 50_000), .both(.ignoreRange, .cut(at: 70_000)), .ignoreRange])) {
            bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.outcomes == [.fetched])
            #expect(ranges(bench.server) == [nil, "bytes=50000-", "bytes=70000-"])
            #expect(try bench.file() == bytes)
            #expect(report.bytesReceived == 240_000)
        }
    }

    @Test func `case 9: a server that starts over and never comes further is given up`() async throws {
        try await withBench(.file(bytes, [.both(.ignoreRange, .cut(at: 50_000))]), retries: 3) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.receipts.isEmpty)
            #expect(ranges(bench.server).count == 4)
            #expect(try bench.file() == nil)
        }
    }

    @Test(arguments: [true, false])
    func `a server without validators that always cuts is given up`(hasRanges: Bool) async throws {
        let script = ServerScript.file(
            bytes, etag: nil, lastModified: nil, ranges: hasRanges, [.cut(at: 50_000)])
        try await withBench(script, retries: 3) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.failures.count == 1)
            #expect(ranges(bench.server) == [nil, nil, nil, nil])
        }
    }

    @Test func `case 10: 416 with what is held completes when the catalog's size fits`() async throws {
        try await withBench(.file(bytes)) { bench in
            let episode = bench.episode(size: 120_000)
            try await bench.leave(bytes, of: episode, total: nil)
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.resumed])
            #expect(report.bytesReceived == 0)
            #expect(ranges(bench.server) == ["bytes=120000-"])
            #expect(try bench.file() == bytes)
        }
    }

    @Test(arguments: [true, false])
    func `case 10: 416 with what is held completes when the digest fits, else restarts`(isRight: Bool) async throws {
        let digest = ContentDigest(algorithm: .sha256, hexadecimal: sha256(bytes))
        try await withBench(.file(bytes)) { bench in
            let episode = bench.episode(digest: digest)
            try await bench.leave(isRight ? bytes : other, of: episode, total: nil)
            #expect(try await bench.fetch(episode).outcomes == [isRight ? .resumed : .fetched])
            #expect(ranges(bench.server) == (isRight ? ["bytes=120000-"] : ["bytes=120000-", nil]))
            #expect(try bench.file() == bytes)
        }
    }

    @Test(arguments: ["\"v1\"", nil], [nil, 99_000, 500_000] as [Int64?])
    func `case 10: 416 with what is on disk completes under the same validator, whatever the catalog says`(
        tag: String?, size: Int64?
    ) async throws {
        let silent = tag == nil ? Deed.header("Last-Modified", nil) : .wellBehaved
        try await withBench(.file(bytes, [.both(silent, .header("ETag", tag))])) { bench in
            let episode = bench.episode(size: size)
            try await bench.leave(bytes, of: episode, total: nil)
            #expect(try await bench.fetch(episode).outcomes == [.resumed])
            #expect(ranges(bench.server) == ["bytes=120000-"])
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 0)
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `case 10: 416 with what is on disk restarts under another validator`() async throws {
        try await withBench(.file(bytes, etag: "\"v2\"", [.ignoreIfRange])) { bench in
            let episode = bench.episode()
            try await bench.leave(other, of: episode, total: nil)
            #expect(try await bench.fetch(episode).outcomes == [.fetched])
            #expect(ranges(bench.server) == ["bytes=120000-", nil])
            #expect(try bench.file() == bytes)
        }
    }

    private func short(_ limit: Int) -> Deed { .change { reply, _ in reply.shortenPart(to: limit) } }

    @Test(arguments: [70_000, 20_000, 7_000])
    func `case 13a: parts that are shorter than asked for are appended one after the other`(limit: Int) async throws {
        try await withBench(.file(bytes, [.cut(at: 50_000), short(limit)]), retries: 1) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(ranges(bench.server) == [nil] + stride(from: 50_000, to: 120_000, by: limit).map { "bytes=\($0)-" })
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 120_000)
            #expect(report.bytesReceived == 120_000)
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `case 13a: a short part that breaks off is gone on from, and one that brings nothing is a failure`()
        async throws
    {
        let cut = Deed.both(short(20_000), .cut(at: 10_000))
        try await withBench(.file(bytes, [cut, short(20_000), cut, short(70_000)]), retries: 1) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            #expect(try await bench.fetch(episode).outcomes == [.resumed])
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 70_000)
            #expect(try bench.file() == bytes)
        }
        let empty = Deed.both(short(20_000), .closeAfterHead)
        try await withBench(.file(bytes, [empty]), retries: 2) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            #expect(try await bench.fetch(episode).failures.count == 1)
            #expect(ranges(bench.server) == ["bytes=50000-", "bytes=50000-", "bytes=50000-"])
            #expect(try bench.partial(of: episode) == Array(bytes[..<50_000]))
        }
    }

    @Test func `case 13a: another version behind a short part takes the place of both`() async throws {
        let other = other
        let changed = Deed.change { reply, request in
            reply = ServedFile(other, etag: "\"v2\"").answer(to: request)
        }
        try await withBench(.file(bytes, [short(20_000), changed])) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            #expect(try await bench.fetch(episode).outcomes == [.fetched])
            #expect(ranges(bench.server) == ["bytes=50000-", "bytes=70000-"])
            #expect(try bench.file() == other)
        }
    }

    @Test(arguments: ["bytes */80000", "bytes */0", nil])
    func `case 11: 416 with another total restarts without Range`(field: String?) async throws {
        let refusal = Deed.change { reply, _ in
            reply = Reply(status: 416)
            reply.setHeader("Content-Range", field)
        }
        try await expectRestart(after: refusal)
    }

    @Test func `case 11: a file that became shorter restarts`() async throws {
        let short = Array(bytes[..<30_000])
        try await withBench(.file(short)) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            #expect(try await bench.fetch(episode).outcomes == [.fetched])
            #expect(ranges(bench.server) == ["bytes=50000-", nil])
            #expect(try bench.file() == short)
        }
    }

    @Test func `case 12: a partial larger than the total restarts`() async throws {
        try await withBench(.file(bytes)) { bench in
            let episode = bench.episode()
            try await bench.leave(other + other, of: episode)
            #expect(try await bench.fetch(episode).outcomes == [.fetched])
            #expect(ranges(bench.server) == [nil])
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `a second refusal is told, and not tried for ever`() async throws {
        try await withBench(
            .file(bytes, [.header("Content-Range", nil), .cut(at: 60_000), .header("Content-Range", nil)])
        ) {
            bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            let report = try await bench.fetch(episode)
            #expect(report.sentences.first?.contains("the server did not say which part it sent") == true)
            #expect(ranges(bench.server) == ["bytes=50000-", nil, "bytes=60000-"])
            // What the second try brought is good and stays.
            #expect(try bench.partial(of: episode) == Array(bytes[..<60_000]))
        }
    }
}
