import BookModel
import Foundation
import Testing

@testable import CatalogFetcher

@Suite struct ArchiveItemTests {
    private func book(_ files: String, more: String = "", formats: [String] = []) throws -> CatalogContents {
        let json = #"{"metadata":{"identifier":"it"},"files":[\#(files)]\#(more)}"#
        return try InternetArchiveSettings(formats: formats)
            .read(CatalogResponse(bytes: Array(json.utf8)), source: "archive", id: nil)
    }

    private func file(_ name: String, _ more: String = #""format":"VBR MP3","source":"original""#) -> String {
        #"{"name":"\#(name)",\#(more)}"#
    }

    @Test func `names are encoded segment by segment`() throws {
        let contents = try book(file(#"CD 1\/50% #1? \u00fc.mp3"#))
        #expect(
            contents.episodes.first?.address?.secretText
                == "https://archive.org/download/it/CD%201/50%25%20%231%3F%20%C3%BC.mp3")
        #expect(contents.episodes.first?.identity.key == "CD 1/50% #1? ü")
        #expect(contents.episodes.first?.name == "50% #1? ü")
    }

    @Test(arguments: ["..\\/up.mp3", "a\\/..\\/b.mp3", ".", "", "x\\u0000y.mp3"])
    func `names that lead elsewhere are left out and told of`(name: String) throws {
        let contents = try book(file("a.mp3") + "," + file(name))
        #expect(contents.episodes.map(\.identity.key) == ["a"])
        #expect(!contents.listing.proof.isComplete)
        #expect(
            contents.listing.proof.warnings.map(\.description).contains {
                $0.hasPrefix("1 of the listed files has no usable name")
            })
    }

    @Test func `tracks order the episodes when each has one of its own`() throws {
        func tracked(_ name: String, _ track: String) -> String {
            file(name, #""format":"VBR MP3","source":"original","track":"\#(track)""#)
        }
        let tracks = try book(
            [tracked("c.mp3", "1/3"), tracked("b.mp3", "02"), tracked("a.mp3", "3")].joined(separator: ","))
        #expect(tracks.episodes.map(\.identity.key) == ["c", "b", "a"])
        #expect(tracks.episodes.map(\.section) == [1, 2, 3])
        let garbage = try book(
            [tracked("c.mp3", "1/3"), tracked("b10.mp3", "x"), tracked("b9.mp3", "0")].joined(separator: ","))
        #expect(garbage.episodes.map(\.identity.key) == ["b9", "b10", "c"])
        let twice = try book(
            [tracked("d2/1.mp3", "1"), tracked("d1/1.mp3", "1"), tracked("d1/2.mp3", "2")].joined(separator: ","))
        #expect(twice.episodes.map(\.identity.key) == ["d1/1", "d1/2", "d2/1"])
        #expect(twice.episodes.map(\.section) == [1, 2, 3])
    }

    @Test func `files made from one archive of all are still as many recordings`() throws {
        let made = #""format":"64Kbps MP3","source":"derivative","original":"all.zip""#
        let contents = try book(
            [
                file("all.zip", #""format":"ZIP","source":"original""#), file("1_64kb.mp3", made),
                file("2_64kb.mp3", made),
                file("1.ogg", #""format":"Ogg Vorbis","source":"derivative","original":["all.zip","x"]"#),
            ].joined(separator: ","))
        #expect(contents.episodes.map(\.identity.key) == ["1", "2"])
        #expect(contents.episodes.allSatisfy { $0.mediaType == "audio/mpeg" })
    }

    @Test func `derivatives that lead in a circle end somewhere`() throws {
        let contents = try book(
            file("a.mp3", #""format":"VBR MP3","source":"derivative","original":"b.mp3""#) + ","
                + file("b.mp3", #""format":"64Kbps MP3","source":"derivative","original":"a.mp3""#))
        // Neither is known to be made from the other: both are listed.
        #expect(contents.episodes.count == 2)
    }

    @Test func `a recording handed in twice is one episode`() throws {
        let contents = try book(
            file("1.flac", #""format":"Flac","source":"original""#) + "," + file("1.mp3") + "," + file("2.mp3"))
        #expect(contents.episodes.map(\.identity.key) == ["1", "2"])
        #expect(contents.episodes.first?.mediaType == "audio/mpeg")
    }

    @Test func `private files are locked`() throws {
        let contents = try book(
            file("a.mp3") + "," + file("b.mp3", #""format":"VBR MP3","source":"original","private":"true""#))
        #expect(contents.episodes.map(\.isLocked) == [false, true])
        #expect(contents.listing.proof.warnings.first?.description.hasPrefix("1 of its files is private") == true)
    }

    @Test func `a public file comes before a private one in a better format`() throws {
        let hidden = #""format":"VBR MP3","source":"original","private":"true""#
        let open = #""format":"64Kbps MP3","source":"derivative","original":"#
        let contents = try book(
            file("a.mp3", hidden) + "," + file("a_64kb.mp3", open + #""a.mp3""#) + "," + file("b.mp3", hidden),
            formats: ["VBR MP3", "64Kbps MP3"])
        #expect(contents.episodes.map { $0.address?.pathText } == ["/download/it/a_64kb.mp3", nil])
        // A whole book that is private does not hide its parts.
        let parts = try book(
            file("whole.m4b", #""format":"VBR MP3","source":"original","private":"true""#) + ","
                + file("1.mp3", #""format":"64Kbps MP3","source":"original""#))
        #expect(parts.episodes.map(\.isLocked) == [false])
    }

    @Test func `fewer files than declared make the listing incomplete`() throws {
        let contents = try book(file("a.mp3"), more: #","files_count":3"#)
        #expect(!contents.listing.proof.isComplete)
        #expect(
            contents.listing.proof.warnings.map(\.description) == [
                "the archive declares 3 files and lists 1: the listing counts as incomplete"
            ])
        #expect(try book(file("a.mp3"), more: #","files_count":1"#).listing.proof.isComplete)
    }

    @Test func `one original of an array, and one title or creator of several`() throws {
        let json = """
            {"metadata":{"identifier":"it","title":["One","Two"],"creator":["A B","C"]},
             "files":[{"name":"1.wav","format":"WAVE","source":"original"},
                      {"name":"1.mp3","format":"VBR MP3","source":"derivative","original":["1.wav","2.wav"]}]}
            """
        let contents = try InternetArchiveSettings()
            .read(CatalogResponse(bytes: Array(json.utf8)), source: "archive", id: nil)
        #expect(contents.book.title == "One" && contents.book.author == "A B, C")
        #expect(contents.episodes.map(\.identity.key) == ["1"])
    }

    @Test(arguments: [
        ("{}", Failure.Kind.unknownBook, "no such item"), (#"{"error":"no access"}"#, .unknownBook, "no access"),
        (#"{"is_dark":true,"metadata":{}}"#, .unknownBook, "dark"), (#"{"files":[]}"#, .unknownBook, "no audio"),
        (#"{"files":[{"name":"a.txt"}]}"#, .unknownBook, "no audio"), ("[]", .unreadableCatalog, "no archive item"),
        ("", .unreadableCatalog, "empty"), ("<html><body>503", .unreadableCatalog, "HTML"),
        (#"{"files":7}"#, .unreadableCatalog, "no list of files"), ("{\"files\":[", .unreadableCatalog, "proper JSON"),
        ("\0\0", .unreadableCatalog, "empty"), ("{\"a\":\"\u{1}\"}", .unreadableCatalog, "control character"),
    ])
    func `what is no item is told in a sentence`(text: String, kind: Failure.Kind, why: String) throws {
        let failure = try #require(try failure(reading: text, as: InternetArchiveSettings(), id: "it"))
        #expect(failure.kind == kind)
        #expect(failure.description.contains(why), "\(failure)")
    }

    @Test func `nothing to take in a configured format is told with what there is`() throws {
        let failure = #expect(throws: Failure.self) { try book(file("a.mp3"), formats: ["Flac"]) }
        #expect(failure?.kind == .unknownBook && failure?.why.description.contains("it has VBR MP3") == true)
    }

    @Test(arguments: [
        ("https://archive.org/details/war_is_kind_librivox", "war_is_kind_librivox"),
        ("http://www.archive.org/download/a.b-c/x%20y.mp3", "a.b-c"), ("https://archive.org/metadata/abc?x=1", "abc"),
        ("https://archive.org/details/abc/page/n3#top", "abc"), ("https://archive.org/", nil),
        ("https://archive.org/details/", nil), ("https://archive.org.evil.example/details/abc", nil),
        ("https://example.com/details/abc", nil), ("ftp://archive.org/details/abc", nil), ("archive", nil),
        ("https://archive.org/details/..", nil), ("https://archive.org/details/a%2Fb", nil),
    ])
    func `pages of the archive name their item`(address: String, id: String?) {
        #expect(InternetArchiveSettings.bookID(in: ResourceAddress(address)) == id)
    }
}
