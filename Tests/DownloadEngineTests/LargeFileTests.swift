import BookModel
import CatalogStore
import Foundation
import Support
import Testing

@testable import DownloadEngine
@testable import LibraryFiles

/// Large files, fetched in pieces by as many connections as have nothing else to do.
@Suite(.limitedConcurrency) struct LargeFileTests {
    private let bytes = sampleMP3(bytes: 1_000_000)

    /// A bench whose large files have ten pieces.
    private func withLargeFileBench(
        _ script: ServerScript, jobs: Int = 4, jobsPerHost: Int = 4, _ body: (EngineBench) async throws -> Void
    ) async throws {
        try await withBench(
            script, jobs: jobs, jobsPerHost: jobsPerHost, dividingFrom: 800_000, body)
    }

    private func gets(_ bench: EngineBench) -> [ServerRequest] {
        bench.server.requests(path: "/a.mp3").filter { $0.method == "GET" }
    }

    /// A good server that is told apart by the answers' first byte: `change` spoils those that begin there.
    private func server(
        _ file: ServedFile, at first: Int? = nil, _ change: @escaping @Sendable (inout Reply) -> Void = { _ in }
    ) -> ServerScript {
        ServerScript { request in
            var reply = file.answer(to: request)
            let begins = first.map { "bytes=\($0)-" } ?? "bytes="
            if request.method == "GET", request.header("Range")?.hasPrefix(begins) == true { change(&reply) }
            return reply
        }
    }

    /// Lets the first answer give so many bytes until the gate opens.
    private func server(holdingFirstAt count: Int, until gate: Gate) -> ServerScript {
        server(ServedFile(bytes), at: 0) { $0.ending = .stallAfter(bytes: count, until: gate) }
    }

    private func piecesDone(_ record: ServerRecord) -> Int {
        record.exchanges.count { $0.isFinished && $0.request.method == "GET" }
    }

    @Test func `what the first connection has not asked for is brought by the others`() async throws {
        let gate = Gate()
        try await withLargeFileBench(server(holdingFirstAt: 1000, until: gate)) { bench in
            let episode = bench.episode(size: 1_000_000)
            let opening = Task {
                // All pieces behind what the first request asks for come while it stands still.
                try await bench.server.waitUntil { piecesDone($0) == 6 }
                gate.open()
            }
            let report = try await bench.fetch(episode)
            try await opening.value
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(report.bytesReceived == 1_000_000)
            #expect(try bench.file() == bytes)
            #expect(try bench.partialNames() == [])
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 1_000_000)
            #expect(bench.server.requests(path: "/a.mp3").first?.method == "HEAD")
            #expect(gets(bench).allSatisfy { $0.header("If-Range") == "\"v1\"" })
            let pieces = (4...9).map { "bytes=\($0)00000-\($0)99999" }
            #expect(gets(bench).compactMap { $0.header("Range") }.sorted() == ["bytes=0-399999"] + pieces)
            #expect(bench.server.record.maximumConcurrentRequests <= 4)
            #expect(try await bench.recordedFile(of: episode)?.sha256 == sha256(bytes))
        }
    }

    @Test func `a place is not lent beyond the connections that a host may get`() async throws {
        let gate = Gate()
        try await withLargeFileBench(server(holdingFirstAt: 1000, until: gate), jobsPerHost: 2) { bench in
            let opening = Task {
                try await bench.server.waitUntil { piecesDone($0) == 6 }
                gate.open()
            }
            #expect(try await bench.fetch(bench.episode(size: 1_000_000)).outcomes == [.fetched])
            try await opening.value
            #expect(bench.server.record.maximumConcurrentRequests == 2)
        }
    }

    @Test func `episodes that wait come before help`() async throws {
        let small = sampleMP3(bytes: 50_000, seed: 3)
        let large = ServedFile(bytes, pace: Pace(bytesPerSecond: 4_000_000))
        let script = ServerScript { request in
            (request.path == "/a.mp3" ? large : ServedFile(small)).answer(to: request)
        }
        try await withLargeFileBench(script, jobs: 2) { bench in
            var requests = [try await bench.request(bench.episode(size: 1_000_000))]
            for section in 2...8 {
                requests.append(
                    try await bench.request(bench.episode(section, at: "/\(section).mp3", size: 50_000)))
            }
            let report = await bench.run(requests)
            #expect(report.receipts.count == 8, "\(report.sentences)")
            #expect(bench.server.record.maximumConcurrentRequests <= 2)
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 1_000_000)
            // As long as episodes wait, only the transfer itself asks for parts of its file, and for long ones.
            let last = bench.server.record.exchanges.lastIndex { $0.request.path == "/8.mp3" } ?? 0
            let parts = bench.server.record.exchanges[..<last].compactMap { $0.request.header("Range") }
            let long = ["bytes=0-399999", "bytes=400000-799999", "bytes=800000-999999"]
            #expect(parts == Array(long.prefix(parts.count)))
        }
    }

    @Test func `an interrupted large file goes on with every byte that any connection brought`() async throws {
        let gate = Gate()
        try await withLargeFileBench(server(holdingFirstAt: 50_000, until: gate)) { bench in
            let episode = bench.episode(size: 1_000_000)
            let request = try await bench.request(episode)
            let run = Task { await bench.run([request]) }
            try await bench.waitUntilHeld(50_000, of: episode)
            try await bench.waitUntilAllHeld(650_000, of: episode)
            run.cancel()
            let first = await run.value
            #expect(first.bytesReceived == 650_000)
            #expect(first.left == 1)
            gate.open()
            let second = try await bench.fetch(episode)
            #expect(second.outcomes == [.resumed])
            #expect(second.receipts.first?.bytesReused == 650_000)
            #expect(second.bytesReceived == 350_000)
            #expect(try bench.file() == bytes)
            #expect(try bench.partialNames() == [])
        }
    }

    /// What a killed run left of the large file.
    private func leave(
        _ written: [Range<Int>], synced: [Range<Int>] = [], of episode: Episode, in bench: EngineBench,
        validator: ContentValidator = .served, bootID: String = "this", committed: Int64? = nil, from bytes: [UInt8]
    ) async throws {
        let boot = bootID == "this" ? try #require(BootIdentity.current) : bootID
        let front = written.first.flatMap { $0.lowerBound == 0 ? $0.upperBound : nil } ?? 0
        // What is not there must never be taken for the file.
        var content = [UInt8](repeating: 0, count: 1_000_001)
        for range in written { content.replaceSubrange(range, with: bytes[range]) }
        try await bench.leave(
            content, of: episode, total: 1_000_000, committed: committed ?? Int64(front), bootID: boot)
        let file = try FileHandle(forUpdating: bench.partialFile(of: episode))
        func ranges(_ ranges: [Range<Int>]) -> [Range<Int64>] {
            ranges.map { Int64($0.lowerBound)..<Int64($0.upperBound) }
        }
        var note = PartialNote(validator: validator, total: 1_000_000, bootID: boot)
        (note.written, note.synced) = (ranges(written), ranges(synced))
        #expect(note.fileNote.write(to: file.fileDescriptor))
        #expect(PartialNote(of: file.fileDescriptor) == note)
        try file.close()
    }

    @Test func `after a kill whole and unfinished pieces are gone on from`() async throws {
        try await withLargeFileBench(.file(bytes), jobs: 1) { bench in
            let episode = bench.episode(size: 1_000_000)
            try await leave(
                [0..<170_000, 300_000..<400_000, 900_000..<900_001], of: episode, in: bench, from: bytes)
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.resumed], "\(report.sentences)")
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 1_000_000 - 170_000 - 100_000 - 1)
            #expect(report.bytesReceived == 1_000_000 - 170_000 - 100_000 - 1)
            #expect(try bench.file() == bytes)
            #expect(try bench.partialNames() == [])
        }
    }

    @Test(
        arguments: [
            ([0..<50_000, 200_000..<270_000, 300_000..<400_000], nil), ([0..<50_000, 300_000..<400_000], 0),
        ] as [([Range<Int>], Int64?)])
    func `after another boot only what was synced is gone on from, also where the journal was not told of it`(
        written: [Range<Int>], committed: Int64?
    ) async throws {
        try await withLargeFileBench(.file(bytes), jobs: 1) { bench in
            let episode = bench.episode(size: 1_000_000)
            try await leave(
                written, synced: [0..<50_000, 300_000..<400_000], of: episode, in: bench, bootID: "another boot",
                committed: committed, from: bytes)
            #expect(try await bench.fetch(episode).outcomes == [.resumed])
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 850_000)
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `the parts of a file that is begun anew are not taken for its bytes`() async throws {
        try await withLargeFileBench(.file(bytes), jobs: 1) { bench in
            let episode = bench.episode(size: 1_000_000)
            try await leave([0..<50_000, 300_000..<400_000], of: episode, in: bench, from: bytes)
            // The journal knows no validator to ask by, so the file is not gone on from, whatever it says itself.
            try await bench.store.save([
                TransferRecord(
                    episode: episode.identity, state: .downloading, total: 1_000_000, bootID: BootIdentity.current)
            ])
            #expect(try await bench.fetch(episode).outcomes == [.fetched])
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 1_000_000)
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `pieces of another version are never used`() async throws {
        try await withLargeFileBench(.file(bytes), jobs: 1) { bench in
            let episode = bench.episode(size: 1_000_000)
            try await leave(
                [200_000..<300_000], of: episode, in: bench, validator: ContentValidator(entityTag: "\"v0\""),
                from: sampleMP3(bytes: 1_000_000, seed: 2))
            #expect(try await bench.fetch(episode).outcomes == [.fetched])
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 1_000_000)
            #expect(try bench.file() == bytes)
            #expect(try bench.partialNames() == [])
        }
    }

    @Test(arguments: [0, 120_000])
    func `a file of which nobody knows any more what is there is believed as far as was committed`(
        committed: Int
    ) async throws {
        try await withLargeFileBench(.file(bytes), jobs: 1) { bench in
            let episode = bench.episode(size: 1_000_000)
            try await leave(
                [0..<committed, 300_000..<400_000].filter { !$0.isEmpty }, of: episode, in: bench, from: bytes)
            // As a copy without attributes has it.
            let copy = try Data(contentsOf: bench.partialFile(of: episode))
            try FileManager.default.removeItem(at: bench.partialFile(of: episode))
            try copy.write(to: bench.partialFile(of: episode))
            #expect(try await bench.fetch(episode).outcomes == [committed > 0 ? .resumed : .fetched])
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 1_000_000 - committed)
            #expect(try bench.file() == bytes)
        }
    }

    /// `cp -a` copies the time of change from before the bytes, and the note from after them. A clock that was set back says as much
    /// of the file itself.
    @Test(arguments: [(true, 0.0, 270_000), (true, -5, 0), (false, -5, 270_000)])
    func `a copy whose note is of a later moment than its bytes is begun anew`(
        isCopy: Bool, age: Double, believed: Int
    ) async throws {
        try await withLargeFileBench(.file(bytes), jobs: 1) { bench in
            let episode = bench.episode(size: 1_000_000)
            try await leave([0..<170_000, 300_000..<400_000], of: episode, in: bench, from: bytes)
            let path = bench.partialFile(of: episode).path
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: age)], ofItemAtPath: path)
            if isCopy {
                let copied = try await withProduct(
                    ["-a", path, path + ".copy"], in: URL(filePath: "/"), executable: ForeignProgram.path("cp")
                ) { try await $0.result() }
                #expect(copied.exitCode == 0)
                try #require(rename(path + ".copy", path) == 0)
                // So does a run that another one may still disturb.
                try renewFile(path)
            }
            #expect(try await bench.fetch(episode).outcomes == [believed > 0 ? .resumed : .fetched])
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 1_000_000 - believed)
            #expect(try bench.file() == bytes)
        }
    }

    @Test(arguments: ["0-600000 700000-800000", "0-9223372036854775807", "9223372036854775000-9223372036854775807"])
    func `a file that has less than it says is begun anew`(written: String) async throws {
        try await withLargeFileBench(.file(bytes), jobs: 1) { bench in
            let episode = bench.episode(size: 1_000_000)
            try await leave([0..<400_000], of: episode, in: bench, from: bytes)
            let file = try FileHandle(forUpdating: bench.partialFile(of: episode))
            let boot = try #require(BootIdentity.current)
            var note = PartialNote(validator: .served, total: 1_000_000, bootID: boot).fileNote
            note[.written] = written
            #expect(note.write(to: file.fileDescriptor))
            try file.truncate(atOffset: 500_000)
            try file.close()
            #expect(try await bench.fetch(episode).outcomes == [.fetched])
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 1_000_000)
            #expect(try bench.file() == bytes)
            #expect(try bench.partialNames() == [])
        }
    }

    struct Unfit: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var file: ServedFile
        var head: Deed
    }

    private static let unfit: [Unfit] = {
        let bytes = sampleMP3(bytes: 1_000_000)
        return [
            Unfit(testDescription: "no ranges", file: ServedFile(bytes, ranges: false), head: .wellBehaved),
            Unfit(
                testDescription: "a weak tag and no date", file: ServedFile(bytes, etag: "W/\"v1\"", lastModified: nil),
                head: .wellBehaved),
            Unfit(
                testDescription: "no validator", file: ServedFile(bytes, etag: nil, lastModified: nil),
                head: .wellBehaved),
            Unfit(testDescription: "HEAD is refused", file: ServedFile(bytes), head: .instead(.reply(status: 405))),
            Unfit(testDescription: "HEAD is cut", file: ServedFile(bytes), head: .closeBeforeAnswer),
            Unfit(
                testDescription: "a length that is small", file: ServedFile(bytes),
                head: .framing(.declared(1000))),
        ]
    }()

    @Test(arguments: unfit)
    func `a server that does not do ranges properly is asked once for the whole`(unfit: Unfit) async throws {
        let script = ServerScript { request in
            let reply = unfit.file.answer(to: request)
            return request.method == "HEAD" ? unfit.head.spoil(reply, request, unfit.file) : reply
        }
        try await withLargeFileBench(script) { bench in
            let report = try await bench.fetch(bench.episode(size: 1_000_000))
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(gets(bench).map { $0.header("Range") } == [nil])
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 1_000_000)
            #expect(try bench.file() == bytes)
        }
    }

    @Test(arguments: [429, 503])
    func `a server that puts off the question for the head is asked for nothing before its time`(
        status: Int
    ) async throws {
        let asked = Watched(0)
        let file = ServedFile(bytes)
        let script = ServerScript { request in
            asked.update { $0 += 1 }
            return asked.value == 1
                ? .reply(status: status, headers: ["Retry-After": "1"]) : file.answer(to: request)
        }
        try await withLargeFileBench(script) { bench in
            let begin = ContinuousClock.now
            let report = try await bench.fetch(bench.episode(size: 1_000_000))
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(ContinuousClock.now - begin >= .seconds(1))
            #expect(bench.server.requests(path: "/a.mp3").prefix(2).map(\.method) == ["HEAD", "HEAD"])
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 1_000_000)
        }
    }

    @Test func `a file that came whole in parts is asked about where the catalog lists another version`() async throws {
        let other = sampleMP3(bytes: 1_100_000, seed: 2)
        try await withLargeFileBench(.file(other), jobs: 1) { bench in
            let episode = bench.episode(size: 1_100_000)
            try await leave(
                [0..<1_000_000], of: episode, in: bench, validator: ContentValidator(entityTag: "\"v0\""), from: bytes)
            try await bench.store.save([TransferRecord(episode: episode.identity, state: .waiting)])
            #expect(try await bench.fetch(episode).outcomes == [.fetched])
            #expect(try bench.file() == other)
        }
    }

    @Test func `a server that once sends the whole of the same version in place of a part costs nothing that is there`()
        async throws
    {
        let whole = ServedFile(bytes)
        let gate = Gate()
        let script = ServerScript { request in
            var (request, reply) = (request, whole.answer(to: request))
            guard request.method == "GET", !gate.isOpen else { return reply }
            if request.header("Range")?.hasPrefix("bytes=0-") == true {
                reply.ending = .stallAfter(bytes: 50_000, until: gate)
                return reply
            }
            // The first one of a helper.
            gate.open()
            request.headers.removeAll { $0.name.lowercased() == "range" }
            return whole.answer(to: request)
        }
        try await withLargeFileBench(script) { bench in
            let report = try await bench.fetch(bench.episode(size: 1_000_000))
            let fromStart = gets(bench).count { $0.header("Range")?.hasPrefix("bytes=0-") != false }
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(fromStart == 1)
            #expect(try bench.file() == bytes)
        }
    }

    @Test(arguments: [100_000, 250_000])
    func `case 1: the whole of the same version, cut, costs neither what is at the front nor the parts`(
        cut: Int
    ) async throws {
        let script = ServerScript.file(bytes, [.both(.ignoreRange, .cut(at: cut)), .wellBehaved])
        try await withLargeFileBench(script, jobs: 1) { bench in
            let episode = bench.episode(size: 1_000_000)
            try await leave([0..<170_000, 300_000..<400_000], of: episode, in: bench, from: bytes)
            #expect(try await bench.fetch(episode).failures.isEmpty)
            let front = max(cut, 170_000)
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == cut + 1_000_000 - front - 100_000)
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `case 34: what the whole in place of a part brings is noted as it comes`() async throws {
        let gate = Gate()
        let script = ServerScript.file(bytes, [.both(.ignoreRange, .stall(at: 290_000, until: gate))])
        try await withLargeFileBench(script, jobs: 1) { bench in
            let episode = bench.episode(size: 1_000_000)
            try await leave([0..<170_000, 300_000..<400_000], of: episode, in: bench, from: bytes)
            let path = bench.partialFile(of: episode).path
            let request = try await bench.request(episode)
            let run = Task { await bench.run([request]) }
            try await waitUntil("all but 32 KiB are noted") {
                PartialNote.at(path)?.countOfParts?.front ?? 0 > 290_000 - (32 << 10)
            }
            #expect(PartialNote.at(path)?.countOfParts?.all ?? 0 > 390_000 - (32 << 10))
            gate.open()
            #expect(await run.value.failures.isEmpty)
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `parts are gone on from where the store and the catalog know nothing of the file`() async throws {
        try await withLargeFileBench(.file(bytes), jobs: 1) { bench in
            let episode = bench.episode()
            try await leave([0..<170_000, 300_000..<400_000], of: episode, in: bench, from: bytes)
            try await bench.store.save([TransferRecord(episode: episode.identity, state: .waiting)])
            #expect(try await bench.fetch(episode).outcomes == [.resumed])
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 1_000_000 - 270_000)
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `case 16: a part that goes on behind its end is left there`() async throws {
        let gate = Gate()
        let script = server(ServedFile(bytes)) { reply in
            reply.ending = .stallAfter(bytes: reply.body.count + 1, until: gate)
            (reply.body, reply.framing) = (reply.body + [1, 2, 3], .chunked(size: 7000))
        }
        try await withLargeFileBench(script, jobs: 2) { bench in
            let report = try await bench.fetch(bench.episode(size: 1_000_000))
            gate.open()
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `case 13a: pieces that come in short parts are put together`() async throws {
        try await withLargeFileBench(server(ServedFile(bytes)) { $0.shortenPart(to: 30_000) }) { bench in
            let report = try await bench.fetch(bench.episode(size: 1_000_000))
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 1_000_000)
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `a file of unknown length is asked for as a whole`() async throws {
        try await withLargeFileBench(.file(bytes)) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(ranges(bench.server) == [nil])
        }
    }

    @Test func `a server that promises parts and sends the whole is believed in what it sends`() async throws {
        let script = ServerScript { [bytes] request in
            var request = request
            request.headers.removeAll { $0.name.lowercased() == "range" }
            return ServedFile(bytes).answer(to: request)
        }
        try await withLargeFileBench(script) { bench in
            let report = try await bench.fetch(bench.episode(size: 1_000_000))
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(gets(bench).count == 1)
            #expect(try bench.file() == bytes)
        }
    }

    @Test(arguments: [true, false], [900_000, 1_000_000, 1_100_000])
    func `a file that is replaced midway is begun anew, and never a mixture`(
        honoursIfRange: Bool, newLength: Int
    ) async throws {
        let other = sampleMP3(bytes: newLength, seed: 2)
        // The first request brings the old version; whatever comes later finds the new one.
        let old = ServedFile(bytes)
        let new = ServedFile(other, etag: "\"v2\"")
        let script = ServerScript { request in
            var request = request
            if request.number < 2 { return old.answer(to: request) }
            if !honoursIfRange { request.headers.removeAll { $0.name.lowercased() == "if-range" } }
            return new.answer(to: request)
        }
        try await withLargeFileBench(script) { bench in
            let episode = bench.episode(size: 1_000_000)
            let report = try await bench.fetch(episode)
            #expect(report.receipts.count == 1, "\(report.sentences)")
            #expect(try bench.file() == other)
            #expect(try bench.partialNames() == [])
            #expect(try await bench.recordedFile(of: episode)?.validator.entityTag == "\"v2\"")
        }
    }

    @Test func `a piece that is cut goes on where it was cut`() async throws {
        let file = ServedFile(bytes)
        let script = ServerScript { request in
            var reply = file.answer(to: request)
            // Every first answer for each piece is cut.
            let range = request.header("Range") ?? ""
            if request.method == "GET", range.contains("00000-") { reply.ending = .resetAfter(bytes: 30_000) }
            return reply
        }
        try await withLargeFileBench(script) { bench in
            let report = try await bench.fetch(bench.episode(size: 1_000_000))
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(report.bytesReceived == 1_000_000)
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 1_000_000)
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `a server that is too busy for more connections is left alone with them`() async throws {
        let gate = Gate()
        let file = ServedFile(bytes)
        let script = ServerScript { request in
            var reply = file.answer(to: request)
            guard request.method == "GET", let range = request.header("Range") else { return reply }
            if range.hasPrefix("bytes=0-") {
                reply.ending = .stallAfter(bytes: 1000, until: gate)
            } else if !gate.isOpen {
                gate.open()
                return .text("slow down", status: 503, headers: ["Retry-After": "300"])
            }
            return reply
        }
        try await withLargeFileBench(script) { bench in
            let report = try await bench.fetch(bench.episode(size: 1_000_000))
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            // The transfer itself went on, alone.
            #expect(gets(bench).filter { $0.header("Range")?.hasPrefix("bytes=0-") == false }.count < 9)
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `a cancelled large file leaves nothing, a paused one everything`() async throws {
        for state in [TransferState.paused, .cancelled] {
            let gate = Gate()
            try await withLargeFileBench(server(holdingFirstAt: 50_000, until: gate)) { bench in
                let episode = bench.episode(size: 1_000_000)
                let request = try await bench.request(episode)
                let run = Task { await bench.run([request]) }
                try await bench.server.waitUntil { piecesDone($0) == 6 }
                try await bench.inAnotherProcess { store in
                    _ =
                        try await state == .paused
                        ? store.pause([episode.identity]) : store.cancel([episode.identity])
                }
                let report = await run.value
                #expect(report.receipts.isEmpty && report.failures.isEmpty)
                #expect(try bench.partialNames().count == (state == .paused ? 1 : 0))
                if state == .paused { try await bench.waitUntilAllHeld(650_000, of: episode) }
                gate.open()
            }
        }
    }

    @Test func `progress counts what every connection brings and never goes back`() async throws {
        let gate = Gate()
        let file = ServedFile(bytes, pace: Pace(bytesPerSecond: 400_000))
        let script = server(file, at: 0) { reply in
            reply.pace = nil
            reply.ending = .stallAfter(bytes: 1000, until: gate)
        }
        try await withLargeFileBench(script) { bench in
            let opening = Task {
                try await bench.events.waitUntil { events in
                    events.contains {
                        if case .progressed(let progress) = $0 { progress.bytesDone > 400_000 } else { false }
                    }
                }
                gate.open()
            }
            _ = try await bench.fetch(bench.episode(size: 1_000_000))
            try await opening.value
            var counts: [Int64] = []
            for event in bench.events.value {
                switch event {
                case .started(let progress), .progressed(let progress): counts.append(progress.bytesDone)
                default: break
                }
            }
            #expect(counts == counts.sorted())
            #expect(bench.events.value.count { if case .started = $0 { true } else { false } } == 1)
        }
    }
}
