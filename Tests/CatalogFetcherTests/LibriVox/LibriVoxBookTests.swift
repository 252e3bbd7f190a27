import BookModel
import Foundation
import Support
import Testing

@testable import CatalogFetcher

@Suite struct LibriVoxBookTests {
    private func book(_ json: String, id: String? = nil) throws -> CatalogContents {
        try LibriVoxSettings().read(CatalogResponse(bytes: Array(json.utf8)), source: "librivox", id: id)
    }

    private func book(sections: String, more: String = "") throws -> CatalogContents {
        try book(#"{"books":[{"id":"52","title":"Brides"\#(more),"sections":[\#(sections)]}]}"#)
    }

    @Test(
        arguments: [
            ("librivox_52.json", "Letters of Two Brides", "Honoré de Balzac", 57, 0),
            ("librivox_7794.json", "Aesop for Children", "Aesop", 37, 37),
            ("librivox_8369.json", "Short Poetry Collection 127", "Various", 21, 21),
            ("librivox_1876.json", "Weet je nog wel van toen?", "Henriette van Noorden", 2, 2),
            ("librivox_10299.json", "Hunting of the Snark (Version 3)", "Lewis Carroll", 1, 1),
        ])
    func `recorded books are read in both shapes`(
        file: String, title: String, author: String, sections: Int, open: Int
    ) throws {
        let answer = CatalogResponse(bytes: try Corpus.bytes("json-librivox/\(file)"))
        let contents = try LibriVoxSettings().read(answer, source: "librivox", id: nil)
        let id = String(file.dropFirst("librivox_".count).dropLast(".json".count))
        #expect(contents.identity.id == id)
        #expect(LibriVoxSettings.bookID(in: answer) == id)
        #expect(contents.book.title == title)
        #expect(contents.book.author == author)
        #expect(contents.episodes.count == sections)
        #expect(contents.episodes.count { !$0.isLocked } == open)
        #expect(contents.episodes.map(\.section) == Array(1...sections))
        #expect(contents.episodes.allSatisfy { $0.duration != nil && !$0.name.isEmpty })
        #expect(contents.listing.proof.declared == sections && contents.listing.proof.isComplete)
        #expect(contents.listing.proof.warnings.isEmpty == (open == sections))
        #expect(contents.book.summary?.contains("<") == false)
    }

    @Test(arguments: [
        (" http://a/1.mp3", "http://a/1.mp3"), ("\t\u{FEFF}https://a/1.mp3\r\n", "https://a/1.mp3"),
        ("ttp://a/1.mp3", "http://a/1.mp3"), ("ttps://a/1.mp3", "https://a/1.mp3"), ("//a/1.mp3", "https://a/1.mp3"),
        ("HTTP://a/1.mp3", "HTTP://a/1.mp3"), ("javascript:alert(1)", nil), ("file:///etc/passwd", nil), ("", nil),
        ("  ", nil), ("1.mp3", nil), ("http://", nil),
    ])
    func `addresses are mended where they can be`(text: String, expected: String?) {
        #expect(LibriVoxSection.address(text)?.secretText == expected)
    }

    @Test func `addresses of 10 KB are kept, and endless ones are not`() {
        let long = "http://a/" + String(repeating: "x", count: 10_000)
        #expect(LibriVoxSection.address(long)?.secretText == long)
        #expect(LibriVoxSection.address(long + long) == nil)
    }

    @Test func `numbering from 0 is kept, doubtful numbering is not`() throws {
        let zero = try book(sections: #"{"id":"1","section_number":"0"},{"id":"2","section_number":"1"}"#)
        #expect(zero.episodes.map(\.section) == [0, 1])
        let twice = try book(sections: #"{"id":"1","section_number":"1"},{"id":"2","section_number":"1"}"#)
        #expect(twice.episodes.map(\.section) == [1, 2])
        let none = try book(sections: #"{"id":"1","section_number":null},{"id":"2"}"#)
        #expect(none.episodes.map(\.section) == [1, 2])
        #expect(none.episodes.map(\.identity.key) == ["1", "2"])
    }

    @Test func `the declared number is held against the list`() throws {
        let short = try book(sections: #"{"id":"1"}"#, more: #","num_sections":"3""#)
        #expect(!short.listing.proof.isComplete && short.listing.proof.declared == 3)
        #expect(
            short.listing.proof.warnings.first?.description
                == "LibriVox declares 3 sections and lists 1: the listing counts as incomplete")
        let long = try book(sections: #"{"id":"1"},{"id":"2"}"#, more: #","num_sections":1"#)
        #expect(long.listing.proof.isComplete)
        #expect(long.listing.proof.warnings.first?.description == "LibriVox declares 1 section and lists 2")
        let odd = try book(sections: #"{"id":"1"},7,null,{"id":"1"}"#)
        #expect(odd.episodes.count == 1 && !odd.listing.proof.isComplete)
    }

    @Test func `null titles leave it to the sections, or to the number`() throws {
        let json = #"{"books":{"9":{"id":7,"title":null,"sections":[{"title":null},{"title":""}]}}}"#
        let contents = try book(json)
        #expect(contents.book.title == "Book 7")
        #expect(contents.episodes.map(\.name) == ["", ""])
        #expect(contents.episodes.map(\.identity.key) == ["section-1", "section-2"])
    }

    @Test func `the book that was asked for is taken from several`() throws {
        let json = #"{"books":[{"id":"1","title":"A"},{"id":"2","title":"B","sections":[{"id":"5"}]}]}"#
        #expect(try book(json, id: "2").book.title == "B")
        let failure = #expect(throws: Failure.self) { try book(json, id: "3") }
        #expect(
            failure?.kind == .unreadableCatalog && failure?.why.description == "the answer is about other books (1, 2)")
    }

    @Test func `readers are named, up to three of them`() throws {
        func section(_ id: Int, _ reader: String) -> String {
            #"{"id":"\#(id)","readers":[{"display_name":"\#(reader)"}]}"#
        }
        #expect(try book(sections: section(1, "Ann") + "," + section(2, "Ann")).book.narrator == "Ann")
        let many = ["A", "B", "C", "D", "E"].enumerated().map { section($0, $1) }.joined(separator: ",")
        #expect(try book(sections: many).book.narrator == "A, B, C and others")
    }

    @Test(arguments: [
        (#"{"error":"Audiobooks could not be found"}"#, Failure.Kind.unknownBook, "could not be found"),
        (#"{"books":[]}"#, .unknownBook, "no such book"), (#"{"books":null}"#, .unknownBook, "no such book"),
        ("<!DOCTYPE html><html><head>", .unreadableCatalog, "the answer is HTML or XML and no JSON"),
        ("", .unreadableCatalog, "empty"), ("[]", .unreadableCatalog, "no LibriVox answer"),
        (#"{"x":1}"#, .unreadableCatalog, "no list of books"),
        (#"{"books":[{"id":"1"#, .unreadableCatalog, "no proper JSON"),
        ("{\"books\":\"\0\"}", .unreadableCatalog, "no proper JSON"),
    ])
    func `what is no book is told in a sentence`(text: String, kind: Failure.Kind, why: String) throws {
        let failure = try #require(try failure(reading: text, as: LibriVoxSettings()))
        #expect(failure.kind == kind)
        #expect(failure.description.contains(why), "\(failure)")
    }

    @Test(arguments: [
        ("https://librivox.org/rss/52", "52"), ("http://librivox.org/rss/52/", "52"),
        ("https://librivox.org/api/feed/audiobooks/?id=52&extended=1", "52"),
        ("https://librivox.org/letters-of-two-brides-by-honore-de-balzac/", nil), ("https://evil.example/rss/52", nil),
        ("https://librivox.org/rss/x", nil), ("https://librivox.org/api/feed/audiobooks?title=x", nil),
    ])
    func `addresses of LibriVox name their book`(address: String, id: String?) {
        #expect(LibriVoxSettings.bookID(in: ResourceAddress(address)) == id)
    }

    @Test func `a book's page leads to its number`() {
        let page = """
            <!DOCTYPE html><html><head><link rel="alternate" href="https://librivox.org/feed"></head><body>
            <a href="itpc://librivox.org/rss/9">iTunes</a><a href="https://librivox.org/rss/52">RSS</a>
            """
        let address = ResourceAddress("https://librivox.org/letters-of-two-brides-by-honore-de-balzac/")
        #expect(LibriVoxSettings.bookID(in: CatalogResponse(bytes: Array(page.utf8), address: address)) == "52")
        let other = CatalogResponse(bytes: Array(page.utf8), address: ResourceAddress("https://blog.example/"))
        #expect(LibriVoxSettings.bookID(in: other) == nil)
    }
}
