import BookModel
import NIOHTTP1
import Support
import Testing

@testable import CatalogFetcher

/// The three kinds of index, asked over HTTP.
@Suite(.limitedConcurrency) struct IndexSourceTests {
    private func withServer<Result>(
        _ pages: [String: String], _ body: (String, ScriptedServer) async throws -> Result
    ) async throws -> Result {
        try await ScriptedServer.run { request, _ in
            pages[request.path].map { ScriptedAnswer($0) } ?? ScriptedAnswer(status: 404, "nothing here")
        } _: { server, address in
            try await body(address, server)
        }
    }

    private static func index(_ title: String, _ hrefs: String...) -> String {
        "<html><title>Index of \(title)</title><pre>"
            + hrefs.map { "<a href=\"\($0)\">\($0)</a>  01-Jan-2020 10:00  5\n" }.joined() + "</pre></html>"
    }

    @Test func `an archive item is asked for once, with the configured query`() async throws {
        let json = #"{"metadata":{"title":"Emma"},"files":[{"name":"1.mp3","format":"VBR MP3"}],"files_count":1}"#
        try await withServer(["/mirror/metadata/it": json]) { address, server in
            let settings = InternetArchiveSettings(
                address: ResourceAddress(address + "/mirror/"),
                credentials: CatalogCredentials(query: [("t", "a b&c")]))
            let book = try await list("it", in: settings)
            #expect(book.listing.book(testBook).title == "Emma")
            #expect(book.episodes.map { $0.address?.secretText } == [address + "/mirror/download/it/1.mp3"])
            #expect(server.requests.count == 1)
            #expect(server.requests.first?.query == ["t": "a b&c"])
            #expect(try await failure(listing: "other", in: settings).kind == .unknownBook)
            #expect(try await failure(listing: "../it", in: settings).kind == .unknownBook)
            #expect(server.requests.count == 2)
        }
    }

    @Test func `sections without an address are found in the archive item`() async throws {
        let book = """
            {"books":{"56":{"id":"52","title":"Brides","num_sections":"2","url_iarchive":"http://www.archive.org/details/it",
            "sections":[{"id":"7","section_number":"0","title":"One","listen_url":null,"playtime":"9"},
                        {"id":"8","section_number":"1","title":"Two","listen_url":"","playtime":"9"}]}}}
            """
        let sha1 = String(repeating: "a", count: 40)
        let item = """
            {"metadata":{},"files":[{"name":"b_00_64kb.mp3","format":"64Kbps MP3","source":"original","size":"5","sha1":"\(sha1)"},
            {"name":"b_01_64kb.mp3","format":"64Kbps MP3","source":"original"}, {"name":"b.m4b","format":"LibriVox Apple Audiobook"},
            {"name":"cover.jpg","format":"JPEG","source":"original"}]}
            """
        try await withServer(["/api/feed/audiobooks": book, "/metadata/it": item]) { address, server in
            let settings = LibriVoxSettings(
                address: ResourceAddress(address), archive: .init(address: ResourceAddress(address)))
            let listed = try await list("52", in: settings)
            #expect(server.requests.first?.query == ["id": "52", "extended": "1", "format": "json"])
            #expect(
                listed.episodes.map { $0.address?.secretText } == [
                    address + "/download/it/b_00_64kb.mp3", address + "/download/it/b_01_64kb.mp3",
                ])
            #expect(listed.episodes.map(\.identity.key) == ["7", "8"])
            #expect(listed.episodes.map(\.section) == [0, 1])
            #expect(listed.episodes.first?.digest?.hexadecimal == sha1 && listed.episodes.first?.size == 5)
            #expect(listed.listing.proof.isComplete && listed.listing.proof.warnings.isEmpty)
            #expect(listed.listing.description.cover?.secretText == address + "/download/it/cover.jpg")
        }
    }

    @Test func `an archive item that is gone leaves sections locked, one that cannot be reached is no answer`()
        async throws
    {
        let book = """
            {"books":[{"id":"52","url_zip_file":"http://www.archive.org/download//it/it_64kb_mp3.zip",
            "sections":[{"id":"7","listen_url":"http://a/1.mp3"},{"id":"8"}]}]}
            """
        try await withServer(["/api/feed/audiobooks": book, "/metadata/it": "{}"]) { address, _ in
            let settings = LibriVoxSettings(
                address: ResourceAddress(address), archive: .init(address: ResourceAddress(address)))
            let listed = try await list("52", in: settings)
            #expect(listed.episodes.map(\.isLocked) == [false, true])
            #expect(listed.warnings.contains("no address for 1 of 2 sections: archive item it does not help"))
            var down = settings
            try await withRefusingPort { port in
                down.archive.address = ResourceAddress("http://127.0.0.1:\(port)")
                let failure = try await failure(listing: "52", in: down)
                #expect(failure.kind == .catalogUnavailable)
            }
        }
    }

    @Test func `ids that LibriVox cannot have are not asked for`() async throws {
        try await withServer([:]) { address, server in
            let settings = LibriVoxSettings(address: ResourceAddress(address))
            for id in ["", "x", "1&id=2", "1234567890123"] {
                let refused = try await failure(listing: id, in: settings)
                #expect(refused.kind == .unknownBook)
            }
            #expect(server.requests.isEmpty)
            let missing = try await failure(listing: "404", in: settings)
            #expect(missing.kind == .unknownBook)
        }
    }

    @Test func `one level of a directory is read, or as many as configured`() async throws {
        let pages = [
            "/b/My Book/": Self.index("/b/My Book/", "../", "intro.mp3", "CD%202/", "CD%2010/", "cover.jpg", "a.txt"),
            "/b/My Book/CD 2/": Self.index("CD 2", "../", "2.mp3", "10.mp3", "extra/"),
            "/b/My Book/CD 10/": Self.index("CD 10", "../", "1.mp3", "/b/My%20Book/CD%202/"),
        ]
        try await withServer(pages) { address, server in
            var settings = DirectorySettings(address: ResourceAddress(address + "/b"))
            let one = try await list("My Book", in: settings)
            #expect(one.episodes.map(\.identity.key) == ["intro.mp3"])
            #expect(one.listing.description.title == "My Book" && server.requests.count == 1)
            settings.depth = 2
            let two = try await list("My Book", in: settings)
            #expect(two.episodes.map(\.identity.key) == ["intro.mp3", "CD 2/2.mp3", "CD 2/10.mp3", "CD 10/1.mp3"])
            #expect(two.episodes.map(\.section) == [1, 2, 3, 4])
            #expect(two.listing.proof.isComplete && server.requests.count == 4)
            settings.depth = 3
            let three = try await list(address + "/b/My%20Book/", in: settings)
            #expect(three.episodes.count == 4)
            #expect(!three.listing.proof.isComplete)
            #expect(three.warnings.contains("the folder 'CD 2/extra' cannot be read: it answers with HTTP status 404"))
        }
    }

    @Test func `credentials go to the configured server only`() async throws {
        let page = Self.index("/", "1.mp3")
        try await withServer(["/b/": page]) { address, server in
            try await withServer(["/b/": page]) { other, stranger in
                let settings = DirectorySettings(
                    address: ResourceAddress(address),
                    credentials: CatalogCredentials(query: [("token", "T0")]))
                let book = try await list("b", in: settings)
                #expect(book.episodes.map { $0.address?.secretText } == [address + "/b/1.mp3"])
                #expect(server.requests.first?.query == ["token": "T0"])
                _ = try await list(other + "/b/", in: settings)
                #expect(stranger.requests.first?.query == [:])
            }
        }
    }

    @Test func `a page that ends with its connection is read, and its end is looked for`() async throws {
        let whole = Self.index("/", "1.mp3", "2.mp3")
        for (text, isComplete) in [(whole, true), (String(whole.dropLast(30)), false)] {
            try await ScriptedServer.run { _, _ in
                ScriptedAnswer(body: Array(text.utf8), endsWithConnection: true)
            } _: { _, address in
                let book = try await list(".", in: DirectorySettings(address: ResourceAddress(address + "/")))
                #expect(book.listing.proof.isComplete == isComplete)
                #expect(!book.episodes.isEmpty)
            }
        }
    }

    @Test(arguments: [("x", Failure.Kind.configuration), ("ftp://h/x/", .unknownBook), ("", .configuration)])
    func `ids that are no directory are refused`(id: String, kind: Failure.Kind) async throws {
        #expect(try await failure(listing: id, in: DirectorySettings()).kind == kind)
        let below = DirectorySettings(address: ResourceAddress("http://127.0.0.1:1/"))
        #expect(try await failure(listing: "../x", in: below).kind == .unknownBook)
    }
}
