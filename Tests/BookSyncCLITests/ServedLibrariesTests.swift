import BookSync
import Foundation
import Support
import Testing

extension ProductTests {
    /// Several libraries, served as one shelf.
    @Suite(.limitedConcurrency) struct ServedLibraries {
        private static let two = "libraries: { home: L, attic: A }"

        /// Books 1 and 3 are in the first library, 2 in the second; each has two episodes.
        private func withTwo(
            more: String = "", before: (Workbench) async throws -> Void = { _ in },
            _ body: (Workbench, MisbehavingServer, ServedShelf) async throws -> Void
        ) async throws {
            try await withCatalog(ScriptedCatalog(episodes: 2).script, more: Self.two + "\n" + more) { bench, server in
                for arguments in [["fetch", "1", "3", "-q"], ["fetch", "2", "-q", "--library", "attic"]] {
                    try #require(try await bench.runBare(arguments, environment: bench.configured).exitCode == 0)
                }
                try await before(bench)
                try await bench.serve(library: nil, environment: bench.configured) { try await body(bench, server, $0) }
            }
        }

        private func post(
            _ shelf: ServedShelf, _ action: String, _ json: String, _ fields: [String] = []
        ) async throws -> ServedShelf.Answer {
            try await shelf.send(
                "/api/v1/\(action)", method: "POST",
                [
                    "Content-Type: application/json", "Content-Length: \(json.utf8.count)",
                    "Origin: http://127.0.0.1:\(shelf.port)",
                ] + fields, body: json)
        }

        private func key(_ section: Int, of book: Int, _ shelf: ServedShelf) async throws -> String {
            let episode = try await shelf.send("/api/v1/books/cat/\(book)/episodes/\(section)").text
            return try #require(try JSONObject(episode)["id"])
        }

        @Test func `pages, feeds, covers and audio are those of all libraries`() async throws {
            try await withTwo { bench, _, shelf in
                let books = try JSONObject.list(try await shelf.send("/api/v1/books").text)
                #expect(books.map { $0["id"] } == ["1", "2", "3"])
                #expect(books.map { $0["library"] } == ["home", "attic", "home"])
                for path in ["books/cat/2", "books/cat/2/episodes/1"] {
                    let document = try JSONObject(try await shelf.send("/api/v1/\(path)").text)
                    #expect(document["library"] == "attic", "\(path)")
                }
                let page = try await shelf.send("/")
                for book in 1...3 { #expect(page.text.contains("href=\"/books/cat/\(book)\""), "\(book)") }
                #expect(page.text.contains("3 books · 6 episodes"), "\(page.text)")
                #expect(try await shelf.send("/books/cat/2").text.contains("<dt>Library</dt><dd>attic</dd>"))
                #expect(try await shelf.send("/books/cat/9").status == 404)
                #expect(try await shelf.send("/covers/cat/2/small").status == 200)
                let outline = try await shelf.send("/feeds/all.opml").text
                #expect(outline.matches(of: /xmlUrl="[^"]+\/feeds\/cat\/[123]\.xml"/).count == 3)
                let feed = try await shelf.send("/feeds/cat/2.xml").text
                let audio = try #require(feed.firstMatch(of: /url="http:\/\/[^\/]+(\/media\/cat\/2\/[^"]+)"/)).output.1
                let served = try await shelf.send(String(audio)).body
                let files = try bench.files(in: bench.folder.appending(path: "A")).values
                    .map { Array(try Data(contentsOf: $0)) }
                #expect(!served.isEmpty && files.contains(served))
                let listing = try await shelf.send("/catalog/cat/ClientGetBookResource.action?bookId=2").text
                #expect(try JSONObject(listing).number("sections") == 2)
                let found = try JSONObject.list(
                    try await shelf.send("/api/v1/search?q=%E7%AC%AC1%E9%9B%86").text)
                #expect(found.compactMap { $0["library"] }.sorted() == ["attic", "home", "home"])
                let runs = try JSONObject.list(try await shelf.send("/api/v1/runs").text)
                #expect(runs.map { $0["library"] } == ["home", "attic"])
                #expect(try await shelf.send("/runs").text.contains("attic"))
                for path in ["/queue", "/subscriptions", "/search?q=1", "/doctor", "/books/cat/2?find=1"] {
                    #expect(try await shelf.send(path).status == 200, "\(path)")
                }
            }
        }

        @Test func `what is done to a book is done in its library`() async throws {
            try await withTwo(more: "subscriptions: [{ book: \"cat:4\", library: attic }]") { bench, server, shelf in
                let attic = bench.folder.appending(path: "A")
                let row =
                    #"{"episodes": [{"source": "cat", "book_id": "2", "id": "\#(try await key(1, of: 2, shelf))"}]}"#
                #expect(try JSONObject(try await post(shelf, "remove", row).text).number("count") == 1)
                #expect(try bench.files(in: attic).count == 1 && bench.files().count == 4)
                let again = row.dropLast() + #", "force": true}"#
                #expect(try await post(shelf, "fetch", String(again)).status == 200)
                try await waitUntil("it is there again") { try bench.files(in: attic).count == 2 }
                // New ones go where their subscription says, else to the first.
                #expect(try await post(shelf, "fetch", #"{"refs": ["cat:4"]}"#).status == 200)
                #expect(try await post(shelf, "fetch", #"{"refs": ["cat:5"]}"#).status == 200)
                try await waitUntil("both are there") {
                    try bench.files(in: attic).count == 4 && bench.files().count == 6
                }
                let several = try await post(shelf, "pause", #"{"refs": ["cat:1", "cat:2"]}"#)
                #expect(several.status == 400 && several.text.contains("books of 2 libraries"), "\(several.text)")
                #expect(try await post(shelf, "pause", #"{"all": true}"#).status == 200)
                let sent = server.record.audioBytesSent
                #expect(try JSONObject(try await post(shelf, "mirror", "{}").text).number("count") == 1)
                try await waitUntil("both have run") {
                    let runs = try JSONObject.list(try await shelf.send("/api/v1/runs").text)
                    let nights = runs.filter { $0["command"] == "mirror" && $0["state"] == "ended" }
                    return Set(nights.map { $0["library"] }) == ["home", "attic"]
                }
                #expect(server.record.audioBytesSent == sent)
            }
        }

        @Test(.needs("sqlite3"))
        func `users listen in all libraries, and log in to the first`() async throws {
            try await withTwo { bench in
                let added = try await bench.shell(
                    "echo 'password of Kim' | $BOOKSYNC serve --add-user Kim --library L")
                try #require(added.exitCode == 0, "\(added.errors)")
            } _: { bench, _, shelf in
                let cookie = "Cookie: " + (try #require(try await shelf.logIn("password of Kim", as: "Kim").cookie))
                let books = try await shelf.send("/api/v1/books/cat/2/episodes/1", [cookie]).text
                let episode = try #require(try JSONObject(books)["id"])
                let name = #""source": "cat", "book_id": "2", "id": "\#(episode)""#
                #expect(
                    try await post(shelf, "position", #"{"position": {\#(name), "seconds": 12}}"#, [cookie]).status
                        == 200)
                let marked = try await post(
                    shelf, "bookmark", #"{"position": {\#(name), "seconds": 7}, "note": "雨"}"#, [cookie])
                #expect(marked.status == 200)
                #expect(try await shelf.send("/", [cookie]).text.contains("data-part=\"continuing\""))
                #expect(try await shelf.send("/books/cat/2", [cookie]).text.contains("雨"))
                func inAttic(_ sql: String) async throws -> String {
                    try await ForeignProgram.run("sqlite3", ["A/.booksync/store.sqlite", sql], in: bench).output
                }
                let seen = try await inAttic(
                    "SELECT u.name, p.seconds FROM listening_position p JOIN user u ON u.id = p.user_id"
                )
                #expect(seen == "Kim|12.0\n")
                let number = try #require(try JSONObject(marked.text).number("number"))
                let removal = #"{"number": \#(Int(number)), "refs": ["cat:2"]}"#
                #expect(
                    try JSONObject(try await post(shelf, "remove-bookmark", removal, [cookie]).text).number("count")
                        == 1)
                #expect(try await inAttic("SELECT COUNT(*) FROM bookmark") == "0\n")
            }
        }

        @Test(arguments: [false, true])
        func `a library that cannot be read is named, and nothing of it passes for gone`(wasSeen: Bool) async throws {
            try await withTwo { bench, _, shelf in
                if wasSeen { #expect(try await shelf.send("/books/cat/2").status == 200) }
                let own = bench.folder.appending(path: "A/.booksync")
                for name in ["store.sqlite", "store.sqlite-wal", "store.sqlite-shm"] {
                    try? FileManager.default.removeItem(at: own.appending(path: name))
                }
                // Another file, not the one that the server has open.
                try Data("not a database, but for its size ".utf8).write(to: own.appending(path: "store.sqlite"))
                let page = try await shelf.send("/")
                #expect(page.status == 200 && page.text.contains("The library attic cannot be looked at now"))
                #expect(page.text.contains("href=\"/books/cat/1\"") && !page.text.contains("href=\"/books/cat/2\""))
                #expect(try await shelf.send("/books/cat/1").status == 200)
                for path in [
                    "/feeds/all.opml", "/api/v1/books", "/books/cat/2", "/api/v1/search?q=1", "/feeds/cat/2.xml",
                ] {
                    #expect(try await shelf.send(path).status >= 500, "\(path)")
                }
            }
        }
    }
}
