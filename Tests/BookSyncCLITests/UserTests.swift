import BookSync
import Foundation
import Support
import Testing

@testable import BookSyncWeb

extension ProductTests {
    /// Several people at one shelf.
    @Suite struct Users {
        private static let position =
            #"{"position": {"source": "demo", "book_id": "40111", "id": "5000000001", "seconds": 12}}"#

        private static func add(_ bench: Workbench, _ name: String, _ options: String = "") async throws {
            let added = try await bench.shell(
                "echo 'password of \(name)' | $BOOKSYNC serve --add-user '\(name)' \(options) --library L")
            try #require(added.exitCode == 0, "\(added.errors)")
        }

        /// What the script of a page does.
        private static func act(
            _ shelf: ServedShelf, _ action: String, _ body: String, _ cookie: String
        ) async throws -> ServedShelf.Answer {
            try await shelf.send(
                "/api/v1/\(action)", method: "POST",
                [
                    "Cookie: \(cookie)", "Origin: \(shelf.address)", "Content-Type: application/json",
                    "Content-Length: \(body.utf8.count)", "User-Agent: Mozilla/5.0 (Android 15; Mobile) Firefox/140.0",
                ], body: body)
        }

        @Test func `users have their own positions, bookmarks, speeds and addresses for apps`() async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111", "-q").exitCode == 0)
                #expect(try await bench.run("fetch", "30776/1-2", "-q").exitCode == 0)
                // Listened to before there was anybody.
                try await bench.serve { shelf in
                    let answer = try await Self.act(shelf, "position", Self.position, "none=1")
                    #expect(answer.status == 200)
                }
                try await Self.add(bench, "小林")
                try await Self.add(bench, "Kim")
                try await bench.serve { shelf in
                    #expect(try await shelf.status(nil) == 401)
                    #expect(try await shelf.logIn("password of Kim", as: "小林").cookie == nil)
                    #expect(try await shelf.logIn("password of Kim").cookie == nil)
                    #expect(try await shelf.logIn("password of Kim", as: "nobody").cookie == nil)
                    let lin = try #require(try await shelf.logIn("password of 小林", as: "小林").cookie)
                    let kim = try #require(try await shelf.logIn("password of Kim", as: "Kim").cookie)
                    func seconds(_ cookie: String) async throws -> String {
                        try await shelf.send("/api/v1/positions/demo/40111/5000000001", ["Cookie: \(cookie)"]).text
                    }
                    #expect(try await seconds(lin).contains("\"seconds\": 12"))
                    #expect(try await seconds(kim).contains("\"revision\": 0"))
                    let other = Self.position.replacing("12}", with: "30}")
                    #expect(try await Self.act(shelf, "position", other, kim).status == 200)
                    #expect(try await seconds(kim).contains("\"device\": \"Firefox, Android\""))
                    #expect(try await seconds(lin).contains("\"seconds\": 12"))
                    let note =
                        #"{"position": {"source": "demo", "book_id": "40111", "id": "5000000001", "seconds": 7}, "note": "雨"}"#
                    #expect(try await Self.act(shelf, "bookmark", note, kim).status == 200)
                    let speed = #"{"refs": ["demo:40111"], "speed": 1.5}"#
                    #expect(try await Self.act(shelf, "speed", speed, kim).status == 200)
                    func page(_ cookie: String) async throws -> String {
                        try await shelf.send("/books/demo/40111", ["Cookie: \(cookie)"]).text
                    }
                    let (mine, others) = (try await page(kim), try await page(lin))
                    #expect(mine.contains("雨") && mine.contains("data-speed=\"1.5\""))
                    #expect(!others.contains("雨") && !others.contains("data-speed"))
                    var keys: [Substring] = []
                    for cookie in [lin, kim] {
                        let text = try await page(cookie)
                        keys.append(try #require(text.firstMatch(of: /\/apps\/([A-Za-z0-9_-]{27})\/feeds/)).output.1)
                    }
                    #expect(Set(keys).count == 2)
                    for key in keys { #expect(try await shelf.send("/apps/\(key)/feeds/all.opml").status == 200) }
                    // A new password ends sessions and the apps' address of this user, and of no other.
                    let changed = try await bench.shell(
                        "echo 'another password' | $BOOKSYNC serve --passwd Kim --library L")
                    #expect(changed.exitCode == 0, "\(changed.errors)")
                    try await waitUntil("the session has ended") { try await shelf.status(kim) == 401 }
                    #expect(try await shelf.status(lin) == 200)
                    #expect(try await shelf.send("/apps/\(keys[1])/feeds/all.opml").status == 404)
                    #expect(try await shelf.send("/apps/\(keys[0])/feeds/all.opml").status == 200)
                    // Nor does a new address of one end another's.
                    let again = try #require(try await shelf.logIn("another password", as: "Kim").cookie)
                    let kims = try #require(try await page(again).firstMatch(of: /\/apps\/([A-Za-z0-9_-]{27})\/feeds/))
                        .output.1
                    let rotation = try await shelf.post(
                        "/actions/rotate-apps", form: [], ["Cookie: \(lin)", "Origin: \(shelf.address)"])
                    #expect(rotation.status == 303)
                    #expect(try await shelf.send("/apps/\(keys[0])/feeds/all.opml").status == 404)
                    #expect(try await shelf.send("/apps/\(kims)/feeds/all.opml").status == 200)
                    #expect(try await !page(lin).contains(keys[0]))
                    // Where each has an address of their own, there is none that this ends.
                    let none = try await bench.run("serve", "--rotate-apps")
                    #expect(none.exitCode == 64 && none.errors.contains("serve --passwd NAME"), "\(none.errors)")
                    #expect(try await shelf.send("/apps/\(kims)/feeds/all.opml").status == 200)
                    #expect(try await bench.run("serve", "--remove-user", "小林", "--yes").exitCode == 0)
                    try await waitUntil("there is no such user") { try await shelf.status(lin) == 401 }
                    #expect(try await bench.run("serve", "--remove-user", "Kim", "--yes").exitCode == 0)
                    // A store that lost its users lets nobody in.
                    try await waitUntil("there is nobody") {
                        try await shelf.logIn("another password", as: "Kim").cookie == nil
                    }
                    #expect(try await shelf.status(nil) == 401)
                }
            }
        }

        @Test func `a read-only user hears all books, and changes nothing but what is theirs`() async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111", "-q").exitCode == 0)
                try await Self.add(bench, "Anna", "--read-only")
                #expect(
                    try await bench.run("serve", "--list-users").outputLines == ["Anna: all books, and changes nothing"]
                )
                #expect(try await bench.run("serve", "--list-users", "--json").output.contains("\"read_only\": true"))
                try await bench.serve { shelf in
                    let anna = try #require(try await shelf.logIn("password of Anna", as: "Anna").cookie)
                    let page = try await shelf.send("/books/demo/40111", ["Cookie: \(anna)"]).text
                    #expect(page.contains("/media/demo/40111/") && page.contains("/actions/mark"))
                    for action in ["fetch", "remove", "cancel", "subscribe", "join"] {
                        #expect(!page.contains("formaction=\"/actions/\(action)\""), "\(action)")
                    }
                    for action in ShelfAction.allCases {
                        let status = try await Self.act(shelf, action.rawValue, "{}", anna).status
                        #expect(action.isOwn ? status == 400 : status == 403, "\(action): \(status)")
                    }
                    #expect(try await Self.act(shelf, "position", Self.position, anna).status == 200)
                    for action in ["remove", "rotate-apps", "join", "discover", "doctor"] {
                        let answer = try await shelf.post(
                            "/actions/\(action)", form: [("all", "true")],
                            ["Cookie: \(anna)", "Origin: \(shelf.address)"])
                        #expect(answer.status == 403, "\(action)")
                    }
                    #expect(try bench.files().count == 6)
                    // Other books give her no other rights.
                    let other = try await bench.run("serve", "--books-of", "Anna")
                    #expect(other.outputLines == ["Anna sees all books, and changes nothing"])
                    // From now on she may.
                    let freed = try await bench.run("serve", "--books-of", "Anna", "--no-read-only")
                    #expect(freed.outputLines == ["Anna sees all books"])
                    try await waitUntil("she may look at runs") { try await shelf.status(anna, "/api/v1/runs") == 200 }
                }
            }
        }

        @Test func `who sees some books only finds nothing of the others anywhere`() async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111", "-q").exitCode == 0)
                #expect(try await bench.run("fetch", "30776/1-2", "-q").exitCode == 0)
                try await Self.add(bench, "Kim", "--books demo:40111")
                let unknown = try await bench.shell(
                    "echo 'long enough' | $BOOKSYNC serve --add-user x --books demo:9 --library L")
                #expect(unknown.exitCode == 66, "\(unknown.errors)")
                let files = try await bench.run("list", "30776", "--json").output
                try await bench.serve { shelf in
                    let kim = try #require(try await shelf.logIn("password of Kim", as: "Kim").cookie)
                    func get(_ path: String) async throws -> ServedShelf.Answer {
                        try await shelf.send(path, ["Cookie: \(kim)", "Accept: text/html"])
                    }
                    let hidden = ["回到古代", "30776"]
                    for path in [
                        "/", "/?sort=title", "/search?q=%E5%9B%9E%E5%88%B0", "/api/v1/books",
                        "/api/v1/books?state=finished",
                        "/api/v1/search?q=%E5%9B%9E%E5%88%B0", "/feeds/all.opml", "/books/demo/40111",
                    ] {
                        let answer = try await get(path)
                        #expect(answer.status == 200, "\(path)")
                        // What was searched for stands on the page.
                        for text in hidden where !(path.contains("search") && text == hidden[0]) {
                            #expect(!answer.text.contains(text), "\(path)")
                        }
                    }
                    let id = try #require(files.firstMatch(of: /"id": "(\d+)"/)?.output.1)
                    for path in [
                        "/books/demo/30776", "/books/demo/30776/\(id)", "/covers/demo/30776", "/feeds/demo/30776.xml",
                        "/media/demo/30776/\(id).mp3", "/api/v1/books/demo/30776", "/api/v1/books/demo/30776/episodes",
                        "/api/v1/books/demo/30776/episodes/1", "/api/v1/positions/demo/30776/\(id)",
                        "/api/v1/bookmarks/demo/30776",
                    ] { #expect(try await get(path).status == 404, "\(path)") }
                    for path in ["/queue", "/runs", "/subscriptions", "/discover", "/doctor"] {
                        let answer = try await get(path)
                        #expect(answer.status == 303 && answer.fields["location"] == "/", "\(path)")
                    }
                    for path in ["queue", "runs", "subscriptions", "events"] {
                        #expect(try await get("/api/v1/\(path)").status == 403, "\(path)")
                    }
                    let detail = try await get("/catalog/demo/ClientGetBookDetail.action?id=30776")
                    #expect(!detail.text.contains(hidden[0]))
                    let listing = try await get("/catalog/demo/ClientGetBookResource.action?bookId=30776")
                    #expect(!listing.text.contains("\"name\""))
                    // Nothing is changed but their own.
                    for (action, body) in [
                        ("fetch", #"{"refs": ["demo:40111"]}"#), ("remove", #"{"refs": ["demo:40111"]}"#),
                        ("subscribe", #"{"refs": ["demo:40111"]}"#), ("mirror", "{}"),
                        ("import", #"{"outline": "<opml/>"}"#), ("cancel", #"{"all": true}"#),
                        ("preview", #"{"refs": ["demo:40111"]}"#),
                    ] { #expect(try await Self.act(shelf, action, body, kim).status == 403, "\(action)") }
                    #expect(try await Self.act(shelf, "position", Self.position, kim).status == 200)
                    let own = #"{"refs": ["demo:40111"], "played": true}"#
                    #expect(try await Self.act(shelf, "mark", own, kim).status == 200)
                    for (action, body) in [
                        (
                            "position",
                            Self.position.replacing("40111", with: "30776").replacing("5000000001", with: "\(id)")
                        ),
                        ("mark", own.replacing("40111", with: "30776")),
                        ("speed", #"{"refs": ["demo:30776"], "speed": 1}"#), ("dismiss", #"{"refs": ["demo:30776"]}"#),
                    ] { #expect(try await Self.act(shelf, action, body, kim).status == 404, "\(action)") }
                    // The apps' address shows the same.
                    let page = try await get("/books/demo/40111").text
                    let key = try #require(page.firstMatch(of: /\/apps\/([A-Za-z0-9_-]{27})\/feeds/)?.output.1)
                    #expect(try await !shelf.send("/apps/\(key)/feeds/all.opml").text.contains("30776"))
                    #expect(try await shelf.send("/apps/\(key)/feeds/demo/30776.xml").status == 404)
                    #expect(try await shelf.send("/apps/\(key)/feeds/demo/40111.xml").status == 200)
                    #expect(try await shelf.send("/apps/\(key)/covers/demo/30776").status == 404)
                    // From now on they see all, and may change it.
                    #expect(try await bench.run("serve", "--books-of", "Kim", "--no-read-only").exitCode == 0)
                    try await waitUntil("the other book is seen") { try await get("/books/demo/30776").status == 200 }
                    #expect(try await get("/runs").status == 200)
                }
            }
        }

        @Test func `a file of users that got lost is not begun anew by a new address for apps`() async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111/1", "-q").exitCode == 0)
                try await Self.add(bench, "Anna")
                let file = bench.library.appending(path: ".booksync/serve-users")
                try await bench.serve { shelf in
                    let anna = try #require(try await shelf.logIn("password of Anna", as: "Anna").cookie)
                    try FileManager.default.removeItem(at: file)
                    let rotation = try await shelf.post(
                        "/actions/rotate-apps", form: [], ["Cookie: \(anna)", "Origin: \(shelf.address)"])
                    #expect(rotation.status >= 400, "\(rotation.status)")
                    #expect(!FileManager.default.fileExists(atPath: file.path))
                    // Who was known stays so.
                    #expect(try await shelf.status(anna) == 200)
                    #expect(try await shelf.status(nil) == 401)
                }
                try await bench.serve { shelf async throws in #expect(try await shelf.status(nil) == 401) }
            }
        }

        @Test(.needs(python: "sqlite3"))
        func `a removed user is locked out at once, also while the store is, and leaves nothing to a namesake`()
            async throws
        {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111", "-q").exitCode == 0)
                try await Self.add(bench, "Anna")
                try await Self.add(bench, "Kim")
                let python = try #require(await ForeignProgram.python(having: "sqlite3"))
                let place = "/api/v1/positions/demo/40111/5000000001"
                try await bench.serve { shelf in
                    let kim = try #require(try await shelf.logIn("password of Kim", as: "Kim").cookie)
                    #expect(try await Self.act(shelf, "position", Self.position, kim).status == 200)
                    try await withProduct(["-c", LockedStore.taking], in: bench.folder, executable: python) { holder in
                        try await holder.waitForOutput(containing: "held")
                        let removed = try await bench.run("serve", "--remove-user", "Kim", "--yes")
                        #expect(removed.exitCode == 75, "\(removed.errors)")
                        try await waitUntil("the session has ended") { try await shelf.status(kim) == 401 }
                    }
                    try await Self.add(bench, "Kim")
                    // The server reads the users once a second at most.
                    var cookie: String?
                    try await waitUntil("the new user can log in") {
                        cookie = try await shelf.logIn("password of Kim", as: "Kim").cookie
                        return cookie != nil
                    }
                    let next = try #require(cookie)
                    let position = try await shelf.send(place, ["Cookie: \(next)"]).text
                    #expect(position.contains("\"revision\": 0"), "\(position)")
                }
            }
        }

        @Test func `users of another library than the default one are not left out without a word`() async throws {
            try await withCatalog(
                ScriptedCatalog(episodes: 1).script, more: "library: A\nlibraries: { home: L, attic: A }"
            ) { bench, _ in
                #expect(
                    try await bench.runBare(
                        ["fetch", "1", "-q", "--library", "home"], environment: bench.configured
                    ).exitCode == 0)
                try await Self.add(bench, "Anna")
                let refused = try await bench.runBare(
                    ["serve", "--listen", "127.0.0.1:0"], environment: bench.configured)
                #expect(refused.exitCode == 78 && refused.errors.contains("its users are in the library"))
            }
        }

        @Test func `users are listed, and what is wrong about them is said`() async throws {
            try await withWorkbench { bench in
                let none = try await bench.run("serve", "--list-users")
                #expect(none.exitCode == 0 && none.output.isEmpty && none.errors.contains("--add-user"))
                #expect(!FileManager.default.fileExists(atPath: bench.library.path))
                #expect(try await bench.run("fetch", "40111/1", "-q").exitCode == 0)
                try await Self.add(bench, "小林")
                try await Self.add(bench, "Kim", "--books demo:40111")
                let listed = try await bench.run("serve", "--list-users")
                #expect(listed.outputLines == ["Kim: demo:40111", "小林: all books"])
                let json = try await bench.run("serve", "--list-users", "--json").output
                #expect(json.contains("小林") && !json.contains("scrypt"))
                for (script, code, sentence) in [
                    ("echo long enough | $BOOKSYNC serve --add-user Kim", Int32(64), "there is a user 'Kim' already"),
                    ("echo long enough | $BOOKSYNC serve --add-user ' '", 64, "is not a valid user name"),
                    ("echo short | $BOOKSYNC serve --add-user New", 64, "fewer than 8"),
                    ("echo long enough | $BOOKSYNC serve --passwd New", 64, "there is no user 'New'"),
                    ("$BOOKSYNC serve --books-of New", 64, "there is no user 'New'"),
                    ("$BOOKSYNC serve --remove-user New --yes", 64, "there is no user 'New'"),
                    ("$BOOKSYNC serve --remove-user Kim </dev/null", 64, "say --yes"),
                    ("$BOOKSYNC serve --remove-user Kim --list-users", 64, "Use one option about users at a time"),
                    ("$BOOKSYNC serve --books demo:40111", 64, "--add-user"),
                    ("$BOOKSYNC serve --list-users --read-only", 64, "--read-only is for the server"),
                    (
                        "echo long enough | $BOOKSYNC serve --passwd Kim --read-only", 64,
                        "--read-only is for the server"
                    ),
                ] {
                    let result = try await bench.shell(
                        "\(script) --library L".replacing(
                            "</dev/null --library L", with: "--library L </dev/null"))
                    #expect(result.exitCode == code && result.errors.contains(sentence), "\(script): \(result.errors)")
                }
                #expect(try await bench.run("serve", "--list-users").outputLines.count == 2)
                for name in ["store.sqlite", "serve-users"] {
                    let bytes = try Data(contentsOf: bench.library.appending(path: ".booksync/\(name)"))
                    #expect(bytes.range(of: Data("password of".utf8)) == nil)
                }
            }
        }
    }
}
