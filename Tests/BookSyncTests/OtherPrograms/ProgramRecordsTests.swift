import BookModel
import Foundation
import Support
import SyncPlanner
import Testing

@testable import BookSync

/// What is read of the records that other programs made (`Fixtures/imports`), and of broken ones.
@Suite(.limitedConcurrency) struct ProgramRecordsTests {
    private static let feed = BookIdentity(source: "feed", id: "http://127.0.0.1:18770/feed.xml")

    private func records(
        _ program: OtherProgram, _ name: String, environment: [String: String] = [:]
    ) async throws -> ProgramRecords {
        try await ProgramRecords(
            of: program, at: Corpus.fixture("imports/\(name)").path, environment: environment)
    }

    private func written(_ program: OtherProgram, _ bytes: String) async throws -> ProgramRecords {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "records")
            try Data(bytes.utf8).write(to: file)
            return try await ProgramRecords(of: program, at: file.path, environment: [:])
        }
    }

    @Test func `gPodder says which feeds it follows, what it fetched of them, and where that is`() async throws {
        let records = try await records(.gPodder, "gpodder-Database")
        let feed = try #require(records.feeds?.first)
        #expect(records.feeds?.count == 1)
        #expect(feed.address.secretText == Self.feed.id)
        #expect(feed.title == "Sea Roads")
        #expect(feed.isFollowed)
        #expect(feed.folder == Corpus.fixture("imports/Downloads/Sea Roads").path)
        #expect(feed.records.count == 8)
        let first = try #require(feed.records.first { $0.file == "part-1.mp3" })
        #expect(first.marks.contains(.id("guid-001")))
        #expect(first.marks.contains(.address("http://127.0.0.1:18770/audio/part-1.mp3?sig=abc1&x=1")))
        // 1 March 2024.
        #expect(first.marks.contains(.title("Chapter 1: The road & the sea", day: 19783)))
        let moved = try await self.records(.gPodder, "gpodder-Database", environment: ["GPODDER_DOWNLOAD_DIR": "/d"])
        #expect(moved.feeds?.first?.folder == "/d/Sea Roads")
    }

    @Test func `Audiobookshelf names its files in a container, and what has no feed is told`() async throws {
        let records = try await records(.audiobookshelf, "audiobookshelf.sqlite")
        let feed = try #require(records.feeds?.first)
        #expect(records.feeds?.count == 1)
        #expect(feed.folder == "/podcasts/Sea Roads")
        #expect(feed.records.map(\.file) == (2...8).map { "Chapter \($0) - The road.mp3" })
        #expect(feed.records[0].marks.first == .id("guid-002"))
        #expect(
            records.notices.map(\.description) == [
                "2 books of Audiobookshelf without a feed: booksync adopt takes their folders over"
            ])
    }

    @Test func `podcast-dl's keys are those of the feed alone, and no pictures`() async throws {
        for name in ["podcast-dl-archive.json", "podcast-dl-8-archive.json"] {
            let records = try await records(.podcastDl, name)
            #expect(records.feeds == nil)
            let marks = records.records(of: Self.feed).flatMap(\.marks)
            #expect(marks.contains(.title("Chapter 5: The road & the sea", day: 19788)), "\(name)")
            #expect(
                !marks.contains { if case .title(let title, _) = $0 { title.hasPrefix("Chapter 6") } else { false } })
            #expect(!marks.contains(.id("guid-008")))
            #expect(records.records(of: BookIdentity(source: "feed", id: "http://x.example/")) == [])
        }
    }

    @Test func `castget has the addresses that it fetched in a file beside its configuration`() async throws {
        try await withTemporaryFolder { home in
            let files = FileManager.default
            try files.createDirectory(at: home.appending(path: ".castget"), withIntermediateDirectories: true)
            try files.copyItem(at: Corpus.fixture("imports/castgetrc"), to: home.appending(path: ".castgetrc"))
            let channel = home.appending(path: ".castget/roads.xml")
            try files.copyItem(at: Corpus.fixture("imports/castget-roads.xml"), to: channel)
            let records = try await ProgramRecords(of: .castget, at: home.path, environment: [:])
            let feed = try #require(records.feeds?.first)
            #expect(records.feeds?.count == 1)
            #expect(feed.folder == "SPOOL")
            #expect(feed.records.map(\.file) == (1...4).map { "part-\($0).mp3" })
            #expect(
                feed.records[1].marks.first == .address("http://127.0.0.1:18770/audio/part-2.mp3?sig=abc2&x=1"))
        }
    }

    @Test func `an archive of yt-dlp has an id in each line, and of the Internet Archive a file`() async throws {
        let records = try await records(.ytDlp, "yt-dlp-archive.txt")
        #expect(records.records(of: Self.feed).map { $0.marks.first } == (3...8).reversed().map { .id("guid-00\($0)") })
        let others = try await written(
            .ytDlp,
            "youtube dQw4w9WgXcQ\r\n\r\nbroken\ngeneric a b c\narchiveorg emma_1_librivox/emma_01_austen_64kb.mp3\n"
        ).records(of: Self.feed)
        #expect(others.count == 3)
        #expect(others[1].marks.first == .id("a b c"))
        #expect(others[2].marks.contains(.id("emma_01_austen")))
        #expect(others[2].marks.contains(.file("emma_01_austen_64kb.mp3")))
    }

    @Test(arguments: [
        (OtherProgram.podcastDl, "{}"), (.podcastDl, ""), (.podcastDl, "[\"a\""), (.gPodder, ""), (.gPodder, "text"),
        (.audiobookshelf, ""), (.audiobookshelf, "SQLite format 3\0 and no more"),
    ])
    func `what is none of the program's records is refused in a sentence`(
        program: OtherProgram, bytes: String
    ) async throws {
        let failure = await #expect(throws: Failure.self) { _ = try await written(program, bytes) }
        #expect(failure?.kind == .usage)
        #expect(failure?.remedy != nil)
    }

    @Test func `an empty archive and a configuration without channels are nothing to take over`() async throws {
        #expect(try await written(.ytDlp, "").records.isEmpty)
        #expect(try await written(.podcastDl, "[]").keys.isEmpty)
        #expect(try await written(.castget, "# nothing\nurl=http://h.example/\n").feeds?.isEmpty == true)
        await #expect(throws: Failure.self) {
            _ = try await ProgramRecords(of: .ytDlp, at: "/nowhere/at/all", environment: [:])
        }
    }
}
