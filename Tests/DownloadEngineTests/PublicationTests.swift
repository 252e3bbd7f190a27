import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles
import Support
import Testing

/// The last step: whole files at their names, and nothing else there. Cases 40 and 41 of the download cases.
@Suite(.limitedConcurrency) struct PublicationTests {
    private let bytes = sampleMP3(bytes: 120_000)
    private let other = sampleMP3(bytes: 90_000, seed: 2)
    private let files = FileManager.default

    @Test(
        arguments: [
            // 255 bytes: 83 characters of three bytes, and the rest.
            String(repeating: "兽", count: 83) + "第1集.mp3".suffix(4), "👩‍⚕️ 第001集 🐄.mp3", "\u{202E}3pm.mp3",
            "e\u{301}.mp3", "\u{E9}.mp3", "CON .mp3", "a/b/c/d/e/f.mp3", "no extension",
            String(repeating: "文件夹", count: 28) + "/" + String(repeating: "名", count: 83) + ".mp3",
        ])
    func `case 40: a file is published under any name that the library gives it`(path: String) async throws {
        try await withBench(.file(bytes)) { bench in
            let episode = bench.episode()
            let report = await bench.run([try await bench.request(episode, path: path)])
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(try bench.file(path) == bytes)
            #expect(try await bench.recordedFile(of: episode)?.path == path)
        }
    }

    @Test func `case 40: names that differ in composition or case alone stay apart`() async throws {
        let names = ["e\u{301}.mp3", "\u{E9}.mp3", "A.mp3", "a.mp3"]
        try await withBench(.paths(["/a.mp3": .file(bytes), "/b.mp3": .file(other)])) { bench in
            var requests: [TransferRequest] = []
            for (index, name) in names.enumerated() {
                let episode = bench.episode(index + 1, at: index % 2 == 0 ? "/a.mp3" : "/b.mp3")
                requests.append(try await bench.request(episode, path: "Book/" + name))
            }
            let report = await bench.run(requests)
            #expect(report.receipts.count == 4, "\(report.sentences)")
            for (index, name) in names.enumerated() {
                #expect(try bench.file("Book/" + name) == (index % 2 == 0 ? bytes : other))
            }
        }
    }

    @Test func `case 41: a folder that is a symbolic link is not followed, and nothing is fetched twice`() async throws
    {
        try await withTemporaryFolder { outside in
            try await withBench(.file(bytes)) { bench in
                let folder = bench.library.appending(path: "Book")
                try files.createSymbolicLink(at: folder, withDestinationURL: outside)
                let episode = bench.episode()
                let report = try await bench.fetch(episode)
                #expect(report.sentences.first?.contains("links are not followed for writing") == true)
                #expect(report.stop == nil)
                #expect(try files.contentsOfDirectory(atPath: outside.path) == [])
                #expect(try bench.partial(of: episode) == bytes)
                // The user takes the link away.
                try files.removeItem(at: folder)
                let second = try await bench.fetch(episode)
                #expect(second.outcomes == [.resumed])
                #expect(second.bytesReceived == 0)
                #expect(try bench.file() == bytes)
                #expect(bench.server.record.requests.count == 1)
            }
        }
    }

    @Test func `case 41: a partial that is a symbolic link is not written through`() async throws {
        try await withTemporaryFolder { outside in
            let victim = outside.appending(path: "victim")
            try Data("precious".utf8).write(to: victim)
            try await withBench(.paths(["/a.mp3": .file(bytes), "/b.mp3": .file(other)]), jobs: 1) { bench in
                let episode = bench.episode()
                try files.createSymbolicLink(at: bench.partialFile(of: episode), withDestinationURL: victim)
                let report = try await bench.fetch(episode, bench.episode(2, at: "/b.mp3"))
                #expect(try Data(contentsOf: victim) == Data("precious".utf8))
                #expect(report.sentences.first?.contains("symbolic link") == true, "\(report.sentences)")
                #expect(try bench.file() == nil)
                // It is that episode's trouble alone.
                #expect(report.stop == nil)
                #expect(try bench.file("Book/2.mp3") == other)
            }
        }
    }

    @Test func `a file that booksync did not fetch is not written over`() async throws {
        try await withBench(.file(bytes)) { bench in
            let place = bench.library.appending(path: "Book/1.mp3")
            try files.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: place)
            let episode = bench.episode()
            let report = try await bench.fetch(episode)
            #expect(report.sentences.first?.contains("a file that booksync did not fetch stands there") == true)
            #expect(try Data(contentsOf: place) == Data("mine".utf8))
            try files.removeItem(at: place)
            let second = try await bench.fetch(episode)
            #expect(second.bytesReceived == 0)
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `a replacement takes the old file's place when it is whole`() async throws {
        try await withBench(.file(other, etag: "\"v2\"", [.wellBehaved, .cut(at: 30_000), .wellBehaved])) { bench in
            let episode = bench.episode()
            let old = try await publishOldVersion(of: episode, bench)
            let request = try await bench.request(episode, replacing: old, overwrites: true)
            let report = await bench.run([request])
            #expect(report.outcomes == [.replaced], "\(report.sentences)")
            #expect(try bench.file() == other)
            #expect(try await bench.recordedFile(of: episode)?.sha256 == sha256(other))
            let conditions = bench.server.requests(path: "/a.mp3").map { $0.header("If-None-Match") }
            #expect(conditions == ["\"v1\"", "\"v1\"", nil])
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == other.count)
        }
    }

    @Test func `a replacement that fails leaves the old file`() async throws {
        try await withBench(.file(other, etag: "\"v2\"", [.cut(at: 30_000), .closeAfterHead]), retries: 1) { bench in
            let episode = bench.episode()
            let old = try await publishOldVersion(of: episode, bench)
            let report = await bench.run([try await bench.request(episode, replacing: old, overwrites: true)])
            #expect(report.failures.count == 1)
            #expect(try bench.file() == bytes)
            #expect(try await bench.recordedFile(of: episode)?.sha256 == sha256(bytes))
        }
    }

    @Test func `304 leaves the file and no partial`() async throws {
        try await withBench(.file(bytes)) { bench in
            let episode = bench.episode(size: 130_000)
            let old = try await publishOldVersion(of: bench.episode(size: 120_000), bench)
            let report = await bench.run([try await bench.request(episode, replacing: old, overwrites: true)])
            #expect(report.outcomes == [.unchanged], "\(report.sentences)")
            #expect(report.receipts.first?.remarks == [])
            #expect(report.bytesReceived == 0)
            #expect(try bench.file() == bytes)
            #expect(try bench.partialNames() == [])
            let file = try #require(try await bench.recordedFile(of: episode))
            // It is not the file's.
            #expect(file.catalogSize == nil)
            #expect(file.sha256 == sha256(bytes))
        }
    }

    /// What a server says of the file that is on disk when its catalog lists other things of it.
    struct Look: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var etag: String?
        var modified: String?
        var length = 120_000
        /// The catalog's size, which was 120,000.
        var listed: Int64 = 130_000
        var deeds: [Deed] = [.wellBehaved]
        var isNew = false

        static let all = [
            Look(testDescription: "the same tag, and 200 for a condition", etag: "\"v1\"", modified: nil),
            Look(testDescription: "the same date and length", etag: nil, modified: ServedFile.longAgo),
            Look(testDescription: "the same length alone", etag: nil, modified: nil),
            Look(
                testDescription: "another length that the catalog does not know", etag: nil, modified: nil,
                length: 110_000),
            Look(
                testDescription: "the length that the catalog lists", etag: nil, modified: nil, length: 130_000,
                isNew: true),
            Look(testDescription: "another tag and the same length", etag: "\"v2\"", modified: nil, isNew: true),
            Look(
                testDescription: "another date", etag: nil, modified: "Wed, 01 Jan 2025 00:00:00 GMT", isNew: true),
            Look(
                testDescription: "the same tag, where the head alone is refused", etag: "\"v1\"", modified: nil,
                deeds: [.instead(Reply(status: 405)), .wellBehaved]),
        ]
    }

    @Test(arguments: Look.all)
    func `the head of a file tells whether it is another version, and only that is downloaded`(look: Look)
        async throws
    {
        let served = sampleMP3(bytes: look.length, seed: look.isNew ? 2 : 1)
        let file = ServerScript.file(served, etag: look.etag, lastModified: look.modified, look.deeds)
        // It takes no notice of conditions.
        let script = ServerScript { request in
            var request = request
            request.headers.removeAll { $0.name.lowercased().hasPrefix("if-") }
            return file.answer(request)
        }
        try await withBench(script) { bench in
            let old = try await publishOldVersion(of: bench.episode(size: 120_000), bench)
            let episode = bench.episode(size: look.listed)
            let report = await bench.run([try await bench.request(episode, replacing: old, overwrites: true)])
            #expect(report.outcomes == [look.isNew ? .replaced : .unchanged], "\(report.sentences)")
            #expect(report.bytesReceived == (look.isNew ? Int64(look.length) : 0))
            #expect(try bench.file() == (look.isNew ? served : bytes))
            #expect(try bench.partialNames() == [])
        }
    }

    private func publishOldVersion(of episode: Episode, _ bench: EngineBench) async throws -> LocalFile {
        let place = bench.library.appending(path: "Book/1.mp3")
        try files.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: place)
        _ = try await bench.store.merge([episode], startingAt: 0, of: EngineBench.book)
        let facts = try #require(fileAttributes(place.path))
        let file = LocalFile(
            episode: episode.identity, path: "Book/1.mp3", size: facts.size, sha256: sha256(bytes),
            modificationTime: facts.modificationTime, inode: facts.inode, validator: .served,
            catalogSize: episode.size, fetchedAt: Date(timeIntervalSince1970: 1_700_000_000), verification: .length)
        try await bench.store.finish([file])
        return file
    }

    @Test func `a journal that fails ends the run, and what was received is published by the next one`() async throws {
        let gate = Gate()
        let script = ServerScript.paths(["/a.mp3": .file(bytes, [.stall(at: 60_000, until: gate)])])
        try await withBench(script, jobs: 1) { bench in
            let episode = bench.episode()
            let run = Task { try await bench.fetch(episode) }
            try await bench.waitUntilHeld(60_000, of: episode)
            try await bench.store.close()
            gate.open()
            let report = try await run.value
            #expect(report.stop != nil)
            #expect(report.receipts.isEmpty)
            #expect(try bench.partial(of: episode) == bytes)
            #expect(try bench.file() == nil)
            try await bench.withReopenedStore { bench in
                let second = try await bench.fetch(episode)
                #expect(second.outcomes == [.resumed])
                #expect(second.bytesReceived == 0)
                #expect(bench.server.record.requests.count == 1)
                #expect(try bench.file() == bytes)
            }
        }
    }

    @Test func `one file that cannot be recorded does not take others along`() async throws {
        let script = ServerScript { request in
            ServedFile(sampleMP3(bytes: 9000, seed: UInt64(request.path.count))).answer(to: request)
        }
        try await withBench(script, jobs: 8, jobsPerHost: 8) { bench in
            // The store gives the path to another episode, whose file is gone from disk.
            let absent = bench.episode(99)
            _ = try await bench.store.merge([absent], startingAt: 98, of: EngineBench.book)
            try await bench.store.finish([
                LocalFile(
                    episode: absent.identity, path: "Book/3.mp3", size: 1, sha256: sha256([1]), modificationTime: 0,
                    inode: 0, fetchedAt: Date(), verification: .length)
            ])
            var requests: [TransferRequest] = []
            for section in 1...20 { requests.append(try await bench.request(bench.episode(section))) }
            let report = await bench.run(requests)
            #expect(report.failures.map(\.section) == [3])
            #expect(report.receipts.count == 19)
            for section in 1...20 where section != 3 {
                #expect(try await bench.recordedFile(of: bench.episode(section)) != nil)
            }
        }
    }
}
