import BookModel
import Foundation
import Support
import Testing

@testable import CatalogFetcher

private struct ExpectedPage: Decodable, Sendable {
    struct Entry: Decodable, Sendable {
        var name: String
        var dir: Bool
        var size: Int64?
        var mtime: Int?
        var href: String?
    }

    var base: String
    var entries: [Entry]

    static func all() throws -> [String: ExpectedPage] {
        try Corpus.tables("html-index/expected.json").reduce(into: [:]) { all, table in
            all.merge(try JSONDecoder().decode([String: ExpectedPage].self, from: table)) { chosen, _ in chosen }
        }
    }
}

@Suite struct DirectoryCorpusTests {
    private static let servers = ["nginx", "nginx-json", "nginx-xml", "caddy"]

    private func page(_ name: String, base: String = "http://example.com/") throws -> DirectoryPage {
        try DirectoryPage(try Corpus.bytes("html-index/\(name)"), at: ResourceAddress(base))
    }

    @Test func `every recorded index lists just what the server has`() throws {
        let all = try ExpectedPage.all()
        #expect(all.count == Corpus.count(ofChosen: 21, ofWhole: 23))
        for (name, expected) in all.sorted(by: { $0.key < $1.key }) {
            let page = try page(name, base: expected.base)
            #expect(page.isIndex, "\(name)")
            #expect(page.shortfall == nil, "\(name)")
            let found = page.entries.map { $0.isFolder ? $0.key + "/" : $0.key }
            #expect(found == expected.entries.map(\.name), "\(name)")
            for (entry, truth) in zip(page.entries, expected.entries) {
                #expect(entry.isFolder == truth.dir)
                if let href = truth.href {
                    let below = href.hasPrefix("./") ? String(href.dropFirst(2)) : href
                    #expect(entry.address.secretText == expected.base + below, "\(name)")
                }
                // What is claimed is exact: a rounded size is none.
                if let size = entry.size, !name.hasPrefix("rclone") {
                    #expect(size == truth.size, "\(name): \(entry.key)")
                }
                if let time = entry.modifiedAt, let mtime = truth.mtime {
                    let seconds = Int(time.timeIntervalSince1970)
                    #expect(seconds == mtime || seconds == mtime / 60 * 60, "\(name): \(entry.key)")
                }
            }
        }
    }

    @Test(arguments: servers)
    func `servers that tell the exact size are believed`(server: String) throws {
        for (name, expected) in try ExpectedPage.all() where name.hasPrefix(server + "__") {
            let page = try page(name, base: expected.base)
            #expect(page.entries.map(\.size) == expected.entries.map(\.size), "\(name)")
            #expect(page.entries.allSatisfy { $0.modifiedAt != nil })
        }
    }

    @Test(arguments: ["lighttpd", "apache-fancy-pre", "apache-fancy-table", "nginx-human"])
    func `rounded sizes are no lengths, and times are read`(server: String) throws {
        for (name, expected) in try ExpectedPage.all() where name.hasPrefix(server + "__") {
            let page = try page(name, base: expected.base)
            #expect(page.entries.allSatisfy { $0.size ?? 0 < 10_000 }, "\(name)")
            #expect(page.entries.allSatisfy { $0.modifiedAt != nil }, "\(name)")
        }
    }

    @Test func `a recorded directory is a book`() throws {
        for name in try ExpectedPage.all().keys where name.contains("__plain") {
            let answer = CatalogResponse(
                bytes: try Corpus.bytes("html-index/\(name)"),
                address: ResourceAddress("http://example.com/audio/The%20Plain/"))
            let book = try DirectorySettings().read(answer, source: "files", id: nil)
            #expect(book.identity == BookIdentity(source: "files", id: "http://example.com/audio/The%20Plain/"))
            #expect(book.book.title == "The Plain")
            #expect(book.book.cover?.secretText == "http://example.com/audio/The%20Plain/cover.jpg")
            #expect(
                book.episodes.map(\.identity.key)
                    == (1...12).map { "chapter_\($0 < 10 ? "0" : "")\($0)_64kb.mp3" } + ["book.m4b", "empty.mp3"],
                "\(name)")
            #expect(book.episodes.map(\.section) == Array(1...14))
            #expect(book.episodes[0].number == 1 && book.episodes[11].number == 12)
            #expect(book.episodes[0].name == "chapter_01_64kb" && book.episodes[0].mediaType == "audio/mpeg")
            #expect(book.book.isComplete && book.listing.proof.warnings.isEmpty, "\(name)")
            #expect(DirectorySettings.bookID(in: answer) == "http://example.com/audio/The%20Plain/")
        }
    }

    @Test func `names are decoded once`() throws {
        let special = try page("apacheparse-F0-special-files.html")
        #expect(special.entries.count == 20)
        let names = Set(special.entries.map(\.key))
        #expect(
            names.isSuperset(of: [
                "file%20with%20url%20encoding.html", "file&with&ampersands.php", "file#with#hash.py",
                "file\"with\"double\"quotes.rb", "file@with@symbols.md", "file[with]brackets.log", "hello",
            ]))
        let cyrillic = try page("apacheparse-F0-directory.html", base: "http://example.com/level1/")
        #expect(cyrillic.entries.count == 6 && cyrillic.entries.contains { $0.key == "файл.txt" })
        let unicode = try page("apacheparse-F0-unicode-org.html", base: "http://example.com/Public/")
        #expect(unicode.entries.count == 50)
        #expect(unicode.entries.filter { !$0.isFolder }.map(\.key) == ["ReadMe.txt"])
    }
}
