import BookModel
import CatalogStore
import Foundation
import LibraryFiles
import NIOCore
import Support
import Testing

@testable import DownloadEngine

/// What a run leaves that was cancelled or killed, and what the next one makes of it.
@Suite(.limitedConcurrency) struct InterruptionTests {
    private let bytes = sampleMP3(bytes: 120_000)

    @Test func `after a kill the whole partial file is gone on from`() async throws {
        try await withBench(.file(bytes)) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode, committed: 30_000)
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.resumed])
            #expect(ranges(bench.server) == ["bytes=50000-"])
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 70_000)
            #expect(try bench.file() == bytes)
        }
    }

    @Test(arguments: ["another boot", nil])
    func `after another boot only what was committed is gone on from`(bootID: String?) async throws {
        // A power cut may leave anything behind the last sync.
        let torn = Array(bytes[..<30_000]) + [UInt8](repeating: 0, count: 20_000)
        try await withBench(.file(bytes)) { bench in
            let episode = bench.episode()
            try await bench.leave(torn, of: episode, committed: 30_000, bootID: bootID)
            let report = try await bench.fetch(episode)
            #expect(report.receipts.first?.bytesReused == 30_000)
            #expect(ranges(bench.server) == ["bytes=30000-"])
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `a partial file that vanished is fetched anew`() async throws {
        try await withBench(.file(bytes)) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode, committed: 50_000)
            try FileManager.default.removeItem(at: bench.partialFile(of: episode))
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.fetched])
            #expect(ranges(bench.server) == [nil])
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `bytes without a journal are thrown away`() async throws {
        try await withBench(.file(bytes)) { bench in
            let episode = bench.episode()
            try Data(sampleMP3(bytes: 50_000, seed: 2)).write(to: bench.partialFile(of: episode))
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.fetched])
            #expect(ranges(bench.server) == [nil])
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `a whole partial file is published without a request`() async throws {
        try await withBench(.file(bytes)) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes, of: episode)
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.resumed])
            #expect(report.receipts.first?.bytesReused == 120_000)
            #expect(bench.server.record.requests.isEmpty)
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `a whole partial file gives way to the version that the catalog lists by now`() async throws {
        let new = sampleMP3(bytes: 130_000, seed: 5)
        try await withBench(.file(new, etag: "\"v2\"")) { bench in
            let episode = bench.episode(size: 130_000)
            try await bench.leave(bytes, of: episode)
            let report = try await bench.fetch(episode)
            #expect(report.failures.isEmpty)
            #expect(ranges(bench.server) == ["bytes=119999-"])
            #expect(try bench.file() == new)
        }
    }

    @Test func `a catalog that is wrong about a whole partial file costs one byte`() async throws {
        try await withBench(.file(bytes)) { bench in
            let episode = bench.episode(size: 130_000)
            try await bench.leave(bytes, of: episode)
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.resumed])
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 1)
            #expect(try bench.file() == bytes)
        }
    }

    @Test(arguments: [true, false])
    func `a whole partial file is asked about when the catalog's version is later`(isLater: Bool) async throws {
        try await withBench(.file(bytes)) { bench in
            var episode = bench.episode(size: 120_000)
            episode.modifiedAt = isLater ? Date() : .distantPast
            try await bench.leave(bytes, of: episode)
            #expect(try await bench.fetch(episode).outcomes == [.resumed])
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == (isLater ? 1 : 0))
            #expect(try bench.file() == bytes)
        }
    }

    @Test(arguments: 1...3)
    func `a cancelled run keeps what it received, and the next one goes on from it`(cancellations: Int) async throws {
        let stalls = Array(repeating: Deed.stall(at: 25_000, until: Gate()), count: cancellations)
        try await withBench(.file(bytes, stalls + [.wellBehaved])) { bench in
            let episode = bench.episode()
            for cancellation in 1...cancellations {
                let run = Task { try await bench.fetch(episode) }
                try await bench.waitUntilHeld(cancellation * 25_000, of: episode)
                run.cancel()
                let report = try await run.value
                #expect(report.receipts.isEmpty && report.failures.isEmpty && report.stop == nil)
                #expect(report.bytesReceived == 25_000)
                #expect(try bench.partial(of: episode) == Array(bytes[..<(cancellation * 25_000)]))
                let record = try #require(try await bench.record(of: episode))
                #expect(record.state == .downloading)
                #expect(record.committedLength == Int64(cancellation * 25_000))
                #expect(record.attempts == 0)
            }
            let last = try await bench.fetch(episode)
            #expect(last.outcomes == [.resumed])
            #expect(last.receipts.first?.bytesReused == Int64(cancellations * 25_000))
            #expect(try bench.file() == bytes)
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 120_000)
        }
    }

    @Test(arguments: [512, 60_000])
    func `what vouches for bytes is in the journal before them`(length: Int) async throws {
        let gate = Gate()
        let bytes = sampleMP3(bytes: 400_000)
        try await withBench(.file(bytes, [.stall(at: length, until: gate)])) { bench in
            let episode = bench.episode()
            let run = Task { try await bench.fetch(episode) }
            try await bench.waitUntilHeld(length, of: episode)
            let record = try #require(try await bench.record(of: episode))
            #expect(record.state == .downloading)
            #expect(record.validator == .served)
            #expect(record.total == 400_000)
            #expect(record.bootID == BootIdentity.current)
            // And beside them, for whoever has no journal.
            #expect(PartialNote.at(bench.partialFile(of: episode).path) == PartialNote(of: record))
            gate.open()
            #expect(try await run.value.outcomes == [.fetched])
        }
    }

    @Test(arguments: [512, 60_000])
    func `a small file itself says whose its bytes are, and is gone on from after a kill`(length: Int) async throws {
        let gate = Gate()
        try await withBench(.file(bytes, [.stall(at: length, until: gate)])) { bench in
            let episode = bench.episode()
            let run = Task { try await bench.fetch(episode) }
            try await bench.waitUntilHeld(length, of: episode)
            // No transaction was made for it: this is what a kill leaves.
            let left = try #require(try await bench.record(of: episode))
            #expect(left == TransferRecord(episode: episode.identity))
            run.cancel()
            _ = try await run.value
            try bench.store.commit([left])
            gate.open()
            #expect(try await bench.fetch(episode).outcomes == [.resumed])
            #expect(ranges(bench.server) == [nil, "bytes=\(length)-"])
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 120_000)
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `a small file of another version is not gone on from`() async throws {
        try await withBench(.file(bytes)) { bench in
            let episode = bench.episode()
            let path = bench.partialFile(of: episode).path
            try Data(sampleMP3(bytes: 50_000, seed: 2)).write(to: bench.partialFile(of: episode))
            let partial = try PartialFile(path, promised: nil)
            var record = TransferRecord(episode: episode.identity)
            (record.total, record.bootID) = (120_000, BootIdentity.current)
            record.validator = ContentValidator(entityTag: "\"v0\"")
            #expect(partial.setNote(of: record))
            #expect(PartialNote.at(path) == PartialNote(of: record))
            partial.close()
            #expect(try await bench.fetch(episode).outcomes == [.fetched])
            #expect(try bench.file() == bytes)
        }
    }

    @Test(arguments: [true, false])
    func `without the store a partial file itself is gone on from, after another boot as far as it was synced`(
        isSameBoot: Bool
    ) async throws {
        let unsynced = isSameBoot ? Array(bytes[30_000..<50_000]) : [UInt8](repeating: 0, count: 20_000)
        try await withBench(.file(bytes)) { bench in
            let episode = bench.episode()
            let path = bench.partialFile(of: episode)
            try Data(Array(bytes[..<30_000]) + unsynced).write(to: path)
            let partial = try PartialFile(path.path, promised: nil)
            let boot = try #require(BootIdentity.current)
            var record = TransferRecord(episode: episode.identity)
            (record.validator, record.total, record.committedLength) = (.served, 120_000, 30_000)
            record.bootID = isSameBoot ? boot : "another boot"
            #expect(partial.setNote(of: record))
            #expect(PartialNote.at(path.path) == PartialNote(of: record))
            partial.close()
            #expect(try await bench.fetch(episode).outcomes == [.resumed])
            #expect(ranges(bench.server) == ["bytes=\(isSameBoot ? 50_000 : 30_000)-"])
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `the origin of bytes goes with them`() throws {
        try withTemporaryFolder { folder in
            let partial = try PartialFile(folder.appending(path: "a.part").path, promised: nil)
            try partial.append(ByteBuffer(string: "abc"))
            var record = TransferRecord(episode: EpisodeIdentity(book: .init(source: "a", id: "b"), key: "c"))
            (record.validator, record.total, record.bootID) = (.served, 3, "now")
            #expect(partial.setNote(of: record))
            try partial.truncate(to: 0)
            #expect(partial.note == nil && PartialNote.at(partial.path) == nil)
            partial.close()
        }
    }

    @Test func `the offset that survives a power cut is committed every few MiB`() async throws {
        let gate = Gate()
        let large = sampleMP3(bytes: 26 << 20)
        try await withBench(.file(large, [.stall(at: 17 << 20, until: gate)])) { bench in
            let episode = bench.episode()
            let run = Task { try await bench.fetch(episode) }
            try await bench.waitUntilHeld(17 << 20, of: episode)
            // The journal first, then the file's own attribute.
            try await waitUntil("the offset is committed") {
                let committed = try await bench.record(of: episode)?.committedLength ?? 0
                return (8 << 20)...(17 << 20) ~= committed
                    && PartialNote.at(bench.partialFile(of: episode).path)?.committedLength == committed
            }
            gate.open()
            #expect(try await run.value.outcomes == [.fetched])
            #expect(try await bench.recordedFile(of: episode)?.sha256 == sha256(large))
        }
    }

    @Test func `cancellation ends a wait for the next try at once`() async throws {
        try await withBench(.always(.text("busy", status: 503, headers: ["Retry-After": "200"]))) { bench in
            let run = Task { try await bench.fetch(bench.episode()) }
            try await bench.server.waitUntil { $0.exchanges.count == 1 }
            run.cancel()
            let report = try await run.value
            #expect(report.receipts.isEmpty)
            #expect(bench.server.record.requests.count == 1)
        }
    }

    @Test func `so many transfers run at once, and not more from one server`() async throws {
        let gate = Gate()
        let small = sampleMP3(bytes: 4000)
        let script = ServerScript.file(small, [.stall(at: 1000, until: gate)])
        try await withBench(ServerScript(script.answer), jobs: 4, jobsPerHost: 2) { bench in
            try await withServer(script) { second in
                var requests: [TransferRequest] = []
                for section in 1...6 {
                    var episode = bench.episode(section)
                    if section > 3 { episode.address = second.address("/a.mp3") }
                    requests.append(try await bench.request(episode))
                }
                let run = Task { [requests] in await bench.run(requests) }
                for server in [bench.server, second] {
                    try await server.waitUntil { $0.bodyBytesSent >= 2000 }
                }
                gate.open()
                let report = await run.value
                #expect(report.receipts.count == 6)
                #expect(bench.server.record.maximumConcurrentRequests == 2)
                #expect(second.record.maximumConcurrentRequests == 2)
            }
        }
    }

    @Test func `events tell a transfer from its start to its end`() async throws {
        try await withBench(.file(bytes)) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            _ = try await bench.fetch(episode)
            let events = bench.events.value
            guard case .started(let start)? = events.first, case .finished(let receipt)? = events.last else {
                Issue.record("\(events)")
                return
            }
            #expect(start.bytesDone == 50_000)
            #expect(start.bytesReused == 50_000)
            #expect(start.total == 120_000)
            #expect(start.path == "Book/1.mp3")
            #expect(receipt.bytesReceived == 70_000)
            #expect(receipt.file.path == "Book/1.mp3")
            var done = start.bytesDone
            for case .progressed(let progress) in events {
                #expect(progress.bytesDone >= done)
                done = progress.bytesDone
            }
        }
    }

    @Test func `what came before a server falls silent is told while it is silent`() async throws {
        let gate = Gate()
        let script = ServerScript.file(bytes, [.stall(at: 50_000, until: gate), .wellBehaved])
        try await withBench(script) { bench in
            async let report = bench.fetch(bench.episode())
            try await bench.events.waitUntil { events in
                events.contains { event in
                    if case .progressed(let progress) = event { progress.bytesDone == 50_000 } else { false }
                }
            }
            #expect(bench.server.record.requests.count == 1)
            gate.open()
            #expect(try await report.outcomes == [.fetched])
        }
    }
}
