import BookModel
import Foundation
import Support
import Testing

@testable import CatalogFetcher

@Suite struct DirectoryPageTests {
    private func page(_ body: String, at base: String = "http://h/books/Emma/") throws -> DirectoryPage {
        try DirectoryPage(Array("<html><body>\(body)</body></html>".utf8), at: ResourceAddress(base))
    }

    private func keys(_ hrefs: String..., at base: String = "http://h/books/Emma/") throws -> [String] {
        try page(hrefs.map { "<a href=\"\($0)\">x</a>" }.joined(), at: base).entries.map(\.key)
    }

    @Test func `only links below the page are followed`() throws {
        #expect(
            try keys(
                "01.mp3", "./02.mp3", "/books/Emma/03.mp3", "http://h/books/Emma/04.mp3", "//h/books/Emma/05.mp3",
                "CD 1/06.mp3", "../Emma/07.mp3") == [
                    "01.mp3", "02.mp3", "03.mp3", "04.mp3", "05.mp3", "CD 1/06.mp3", "07.mp3",
                ])
        #expect(
            try keys(
                "../other.mp3", "/books/other.mp3", "/", "..", ".", "", "#top", "?C=N;O=D",
                "http://other/books/Emma/a.mp3",
                "https://h/books/Emma/a.mp3", "http://h:81/books/Emma/a.mp3", "javascript:alert(1)",
                "file:///etc/passwd",
                "mailto:a@b", "data:audio/mp3,x", "%2e%2e/a.mp3", "x/%2E%2E/%2e%2e/a.mp3", "/books/Emma", "CD/?C=M",
                "ftp://h/a.mp3",
                "http://[", "http://h\\@evil/books/Emma/a.mp3"
            ).isEmpty)
    }

    @Test func `a page's folder ends with the last slash of its address`() throws {
        #expect(try keys("a.mp3", at: "http://h/books/index.html?x=/y") == ["a.mp3"])
        #expect(try keys("/books/a.mp3", "/b.mp3", at: "http://h/books/index.html") == ["a.mp3"])
        #expect(try keys("a.mp3", "/b.mp3", at: "http://h") == ["a.mp3", "b.mp3"])
    }

    @Test func `one file is listed once, however often it is linked`() throws {
        #expect(try keys("a%20b.mp3", "a b.mp3", "./a%20b.mp3#x", "a%20b.mp3?token=1") == ["a b.mp3"])
    }

    @Test func `names that differ by their bytes alone are two files`() throws {
        let entries = try page("<a href=\"caf%C3%A9.mp3\">x</a><a href=\"cafe%CC%81.mp3\">x</a>").entries
        #expect(entries.map(\.key) == ["caf\u{E9}.mp3", "cafe%CC%81.mp3"])
        #expect(
            entries.map(\.address.secretText) == ["caf%C3%A9", "cafe%CC%81"].map { "http://h/books/Emma/\($0).mp3" })
    }

    @Test(arguments: [
        #"<?xml version="1.0"?><list><file mtime="2023-11-14T22:13:20Z" size="1">第1.mp3</file>"#
            + #"<file mtime="2023-11-14T22:13:20Z" size="2">a-\#u{F8}.mp3</file></list>"#,
        #"[{"name":"第1.mp3","type":"file","size":1},{"name":"a-\#u{F8}.mp3","type":"file","size":2}]"#,
    ])
    func `one name that is no UTF-8 leaves the others unharmed, and is asked for by its bytes`(text: String) throws {
        // ø stands for its byte in Latin-1.
        let bytes = text.unicodeScalars.flatMap { $0 == "\u{F8}" ? [0xF8] : Array(String($0).utf8) }
        let entries = try DirectoryPage(bytes, at: ResourceAddress("http://h/b/")).entries
        #expect(entries.map(\.key) == ["第1.mp3", "a-%F8.mp3"])
        #expect(entries.map(\.address.secretText) == ["http://h/b/%E7%AC%AC1.mp3", "http://h/b/a-%F8.mp3"])
        #expect(entries.map(\.size) == [1, 2])
    }

    @Test func `addresses keep what signs them, and the user of the page`() throws {
        let entry = try page("<a href=\"a.mp3?token=1\">", at: "http://u:p@h/x/").entries.first
        #expect(entry?.address.secretText == "http://u:p@h/x/a.mp3?token=1")
        #expect(entry?.key == "a.mp3")
    }

    @Test(arguments: [
        ("01-Jan-2020 10:00    123", 123, 1_577_872_800), ("01-Jan-2020 10:00   1.2M", nil, 1_577_872_800),
        ("2020-01-01 10:00  12  ", 12, 1_577_872_800), ("2020-Jan-01 10:00:30  1K", nil, 1_577_872_830),
        ("2020-01-01 10:00    -   ", nil, 1_577_872_800), ("  7  ", 7, nil), ("12 plays", nil, nil), ("", nil, nil),
        ("99-99-9999 99:99 5", nil, nil), ("1-2-3 4:5 6", nil, nil), ("2020-13-01 10:00 5", nil, nil),
        ("- 01-Jan-2020 10:00 99999999999999999999", nil, 1_577_872_800),
    ])
    func `a row's size counts where it is exact`(row: String, size: Int64?, time: Double?) {
        let read = DirectoryRow.read(row)
        #expect(read.size == size)
        #expect(read.modifiedAt?.timeIntervalSince1970 == time)
    }

    @Test(arguments: [
        ("2001-09-09T01:46:40Z", 1_000_000_000), (" 2001-09-09T01:46:40Z", 1_000_000_000),
        ("2001-09-09T03:46:40+02:00", 1_000_000_000), ("2001-09-08T20:16:40.123-0530", 1_000_000_000),
        ("2001-09-09 01:46:40.425345182 +0000 UTC", 1_000_000_000), ("2001-09-09 03:46:40 +0200 CEST", 1_000_000_000),
        ("13-Sep-2020 12:26", 1_599_999_960), ("Sun, 09-Sep-2001 01:46:40 GMT", 1_000_000_000),
        ("2001-09-09T01:46:40.999999999Z", 1_000_000_000), ("2001-09-09", nil), ("T", nil),
        ("2001-09-09T01:46:40X", nil), ("2001-09-09 ", nil),
        ("UTC 1 2 3 4 5 6 7 8", nil),
    ])
    func `times of machine-readable indexes are read`(text: String, seconds: Double?) {
        #expect(DirectoryRow.exactTime(text)?.timeIntervalSince1970 == seconds)
    }

    @Test func `Caddy's JSON is read as nginx's`() throws {
        let json = """
            [{"name":"CD 1/","size":4096,"url":"./CD%201/","mod_time":"2001-09-09T01:46:40.5Z","is_dir":true},
             {"name":"a#1?.mp3","size":7,"mod_time":"2001-09-09T01:46:40Z","is_dir":false},
             {"name":"../up.mp3","size":7},{"name":"x/y.mp3"},{"size":1},7]
            """
        let page = try DirectoryPage(Array(json.utf8), at: ResourceAddress("http://h/d/"))
        #expect(page.entries.map(\.key) == ["CD 1", "a#1?.mp3"])
        #expect(page.entries.map(\.isFolder) == [true, false])
        #expect(page.entries[1].address.secretText == "http://h/d/a%231%3F.mp3")
        #expect(page.entries.map(\.size) == [nil, 7])
        #expect(page.entries.allSatisfy { $0.modifiedAt == Date(timeIntervalSince1970: 1_000_000_000) })
    }

    @Test func `a page that is no UTF-8 keeps the bytes of its addresses`() throws {
        let bytes = Array("<html><a href=\"".utf8) + [0xC4, 0xE3, 0x20, 0x31] + Array(".mp3\">x</a></html>".utf8)
        let entry = try #require(try DirectoryPage(bytes, at: ResourceAddress("http://h/")).entries.first)
        #expect(entry.address.secretText == "http://h/%C4%E3%201.mp3")
        #expect(entry.name == "%C4%E3%201.mp3")
    }

    @Test func `a page cut in the middle is an incomplete listing`() throws {
        let answer = CatalogResponse(
            bytes: Array("<html><title>Index of /d/</title><a href=\"1.mp3\">1.mp3</a> <a href=\"2.m".utf8),
            address: ResourceAddress("http://h/d/"))
        let contents = try DirectorySettings().read(answer, source: "s", id: nil)
        #expect(contents.episodes.map(\.identity.key) == ["1.mp3"])
        #expect(!contents.listing.proof.isComplete)
        #expect(contents.listing.proof.warnings.first?.description.contains("it ends in the middle") == true)
    }

    @Test(arguments: [
        #"[{"name":"1.mp3","type":"file","size":9223372036854775807},{"name":"2.mp3","type":"file","size":2}]"#,
        "<title>Index of /d/</title><a href=\"1.mp3\">1.mp3</a> 01-Jan-2020 10:00 9223372036854775807\n"
            + "<a href=\"2.mp3\">2.mp3</a> 01-Jan-2020 10:00 2\n</body>",
        #"<list><file mtime="2023-11-14T22:13:20Z" size="1099511627777">1.mp3</file>"#
            + #"<file mtime="2023-11-14T22:13:20Z" size="2">2.mp3</file></list>"#,
    ])
    func `a size that no file of audio has is ignored and named`(page: String) throws {
        let answer = CatalogResponse(bytes: Array(page.utf8), address: ResourceAddress("http://h/d/"))
        let contents = try DirectorySettings().read(answer, source: "s", id: nil)
        #expect(contents.episodes.map(\.size) == [nil, 2])
        #expect(contents.listing.proof.isComplete)
        #expect(
            contents.listing.proof.warnings.map(\.description) == [
                "1 file with a size that no file of audio has: the size is ignored"
            ])
    }

    @Test(arguments: ["</body>\n", "</BODY></HTML>", "</html>"])
    func `a page that ends as its server ends pages is whole`(end: String) throws {
        let page = "<title>Index of /d/</title><body><a href=\"1.mp3\">1.mp3</a>" + end
        let answer = CatalogResponse(bytes: Array(page.utf8), address: ResourceAddress("http://h/d/"))
        #expect(try DirectorySettings().read(answer, source: "s", id: nil).listing.proof.isComplete)
    }

    @Test(arguments: [
        ("<h1>My books</h1><p><a href=1.mp3>One</a><p><a href=2.mp3>Two</a>\n<p>Good night", true),
        ("<ul><li><a href=1.mp3>One</a><li><a href=2.mp3>Two</a></ul>", true),
        ("<p><a href=1.mp3>One</a><p><a href=2.mp3>Two</a><p><a href=3.m", false),
        ("<p><a href=1.mp3>One</a><p><a href=2.mp3>Two</a><p><a href=3.mp3>Thr", false),
        ("<h1>Index of /d</h1><a href=1.mp3>One</a><a href=2.mp3>Two</a>\n", false),
        ("<a href=?C=M;O=A>Date</a><a href=1.mp3>One</a><a href=2.mp3>Two</a>\n", false),
    ])
    func `a page that people wrote is whole unless it ends within a tag or a link`(page: String, isWhole: Bool) throws {
        let answer = CatalogResponse(bytes: Array(page.utf8), address: ResourceAddress("http://h/d/"))
        let contents = try DirectorySettings().read(answer, source: "s", id: nil)
        #expect(contents.episodes.prefix(2).map(\.identity.key) == ["1.mp3", "2.mp3"])
        #expect(contents.listing.proof.isComplete == isWhole, "\(contents.listing.proof.warnings)")
    }

    @Test(arguments: [
        (["第十集.mp3", "第二集.mp3", "第一百零二集.mp3"], ["第二集", "第十集", "第一百零二集"]),
        (
            [
                "b IX.mp3", "b V.mp3", "b IV.mp3", "b I.mp3", "b II.mp3", "b III.mp3", "b VI.mp3", "b VII.mp3",
                "b VIII.mp3",
            ],
            ["b I", "b II", "b III", "b IV", "b V", "b VI", "b VII", "b VIII", "b IX"]
        ),
        (
            ["Chapter Two.mp3", "Chapter Three.mp3", "Chapter One.mp3"],
            ["Chapter One", "Chapter Two", "Chapter Three"]
        ),
    ])
    func `files come in the order of their numbers, however these are written`(files: [String], names: [String]) throws
    {
        var book = DirectoryBook(BookIdentity(source: "s", id: "x"), at: ResourceAddress("http://h/d/"))
        book.add(try page(files.map { "<a href='\($0)'></a>" }.joined(), at: "http://h/d/"), in: [])
        #expect(book.contents().episodes.map(\.name) == names)
        #expect(book.contents().episodes.map(\.section) == Array(1...names.count))
    }

    @Test func `sub-directories are discs`() throws {
        var book = DirectoryBook(BookIdentity(source: "s", id: "x"), at: ResourceAddress("http://h/d/"))
        book.add(try page("<a href='intro.mp3'></a>", at: "http://h/d/"), in: [])
        book.add(try page("<a href='01.mp3'></a><a href=cover.png></a>", at: "http://h/d/CD 10/"), in: ["CD 10"])
        book.add(try page("<a href='02.mp3'></a><a href='01.mp3'></a>", at: "http://h/d/CD 2/"), in: ["CD 2"])
        let contents = book.contents()
        #expect(contents.episodes.map(\.identity.key) == ["intro.mp3", "CD 2/01.mp3", "CD 2/02.mp3", "CD 10/01.mp3"])
        #expect(contents.episodes.map(\.season) == [nil, 2, 2, 10])
        #expect(contents.episodes.map(\.number) == [nil, 1, 2, 1])
        #expect(contents.episodes.map(\.section) == [1, 2, 3, 4])
        #expect(contents.book.cover?.secretText == "http://h/d/CD%2010/cover.png")
    }

    @Test(
        arguments: [
            ("", .unreadableCatalog), ("   ", .unreadableCatalog), ("\u{FEFF}", .unreadableCatalog),
            ("{}", .unreadableCatalog), ("[]", .unknownBook), ("[1,2]", .unreadableCatalog),
            ("{\"a\":1}", .unreadableCatalog), ("[{\"name\":", .unreadableCatalog),
            ("<html><title>Login</title></html>", .unreadableCatalog), ("hello", .unreadableCatalog),
            ("<html><a href=\"http://other/a.mp3\">x</a></html>", .unreadableCatalog),
            ("\0\0\0\0", .unreadableCatalog), ("<list></list>", .unreadableCatalog),
        ] as [(String, Failure.Kind)])
    func `what is no index is refused in a sentence`(text: String, kind: Failure.Kind) throws {
        let failure = try #require(try failure(reading: text, as: DirectorySettings(), id: "http://h/d/"))
        #expect(failure.kind == kind)
        #expect(failure.description.utf8.count < 500)
    }

    @Test func `folders without audio tell of the depth`() throws {
        let text = "<html><title>Index of /</title><a href=\"CD 1/\">x</a></html>"
        let failure = try #require(try failure(reading: text, as: DirectorySettings(), id: "http://h/"))
        #expect(failure.kind == .unknownBook)
        #expect(failure.description.contains("only 1 folder:") && failure.description.contains("depth"))
    }
}

@Suite struct HostilePageTests {
    private func read(_ bytes: [UInt8]) async throws -> DirectoryPage {
        try await withTaskExecutorPreference(OwnThread()) { () throws in
            try DirectoryPage(bytes, at: ResourceAddress("http://h/"))
        }
    }

    private func repeated(_ text: String, _ count: Int) -> [UInt8] {
        Array(String(repeating: text, count: count).utf8)
    }

    @Test func `nesting 100,000 deep ends the reading, and what came before it counts`() async throws {
        for element in ["<div>", "<b>", "<table><tr><td>", "<a href=x.mp3><p>"] {
            let page = try await read(Array("<html><a href=1.mp3>1</a>".utf8) + repeated(element, 100_000))
            #expect(page.entries.first?.key == "1.mp3")
            #expect(page.shortfall != nil)
        }
    }

    @Test(.timeLimit(.minutes(10))) func `tags without end and with attributes without number cost no time`()
        async throws
    {
        // To search through everything for each of them would take hours.
        let attributes = Array("<html><a ".utf8) + (0..<20_000).flatMap { Array("a\($0)=1 ".utf8) }
        #expect(try await read(attributes + Array(">".utf8)).shortfall != nil)
        let many = Array("<html><a ".utf8) + (0..<5000).flatMap { Array("a\($0)=1 ".utf8) } + Array(">x</a>".utf8)
        #expect(try await read(many).shortfall?.description.contains("attributes") == true)
        #expect(try await read(Array("<html><a href=\"".utf8) + repeated("x", 200_000)).entries.isEmpty)
        #expect(try await read(Array("<html><!--".utf8) + repeated("- ", 1_100_000)).entries.isEmpty)
        #expect(try await read(repeated("<", 100_000)).entries.isEmpty)
        #expect(try await read(repeated("</i>", 100_000)).entries.isEmpty)
        #expect(try await read(repeated("&", 100_000)).entries.isEmpty)
    }

    @Test func `a bracket within quotes ends no tag, wherever the page is cut into pieces`() async throws {
        let rows = (1...5000).map { "<a title=\"a>\nb\" href='\($0).mp3?x>y'>\($0)</a>\n" }
        let page = try await read(Array("<html><pre>\(rows.joined())</pre></html>".utf8))
        #expect(page.entries.count == 5000 && page.shortfall == nil)
    }

    @Test func `20,000 files are listed`() async throws {
        let rows = (1...20_000).map { "<a href=\"\($0).mp3\">\($0).mp3</a>  01-Jan-2020 10:00  \($0)\n" }
        let page = try await read(Array("<html><pre>\(rows.joined())</pre></html>".utf8))
        #expect(page.entries.count == 20_000)
        #expect(page.entries.last?.size == 20_000)
        #expect(page.shortfall == nil)
    }

    @Test func `addresses of 10 KB are kept, longer ones than servers take are not`() async throws {
        let long = String(repeating: "x", count: 10_000)
        let page = try await read(
            Array("<html><a href=\"\(long).mp3\"></a><a href=\"\(long)\(long).mp3\"></a></html>".utf8))
        #expect(page.entries.map(\.name.utf8.count) == [10_004])
    }

    @Test func `NUL bytes and control characters do no harm`() async throws {
        let page = try await read(
            Array("<html>\0<a href=\"a\0b.mp3\">\u{1}</a>\0<a href=\"c%00d.mp3\">x</a></html>".utf8))
        #expect(page.entries.map(\.key).contains("c%00d.mp3"))
        #expect(page.entries.allSatisfy { !$0.key.utf8.contains(0) })
    }
}
