import BookSync
import Foundation
import Settings
import Support
import Testing

@testable import BookSyncWeb

extension ProductTests {
    /// Who is let in to the served shelf.
    @Suite struct Access {
        // MARK: The password

        @Test func `a hash of another program's making is understood, and no other password fits`() async throws {
            try await withTaskExecutorPreference(OwnThread()) {
                try Self.checkHashes()
            }
        }

        private static func checkHashes() throws {
            let hash = try #require(PasswordHash(parsing: ServedShelf.hash))
            #expect(try hash.matches(ServedShelf.password))
            // Composed otherwise, it is the same.
            #expect(try hash.matches(ServedShelf.password.decomposedStringWithCanonicalMapping))
            for wrong in ["", "pässword 听", "password 听书", ServedShelf.hash] { #expect(try !hash.matches(wrong)) }
            let made = try PasswordHash.make(of: "one two three")
            #expect(try made.matches("one two three"))
            #expect(try !made.matches("one two"))
            let other = try PasswordHash.make(of: "one two three")
            #expect(made.salt != other.salt)
        }

        @Test func `a password is set from standard input, and is not in the file`() async throws {
            try await withWorkbench { bench in
                try bench.configure("# mine\nlibrary: L\nserve:\n  listen: 127.0.0.1:0 # any\n")
                let set = try await bench.shell(
                    "echo 'one two three' | $BOOKSYNC serve --set-password --config booksync.yaml")
                #expect(set.exitCode == 0 && set.output.contains("the password is set in"), "\(set.errors)")
                let text = try String(contentsOf: bench.configuration, encoding: .utf8)
                let line = try #require(text.split(separator: "\n").first { $0.contains("password") })
                #expect(
                    text.replacing(line + "\n", with: "") == "# mine\nlibrary: L\nserve:\n  listen: 127.0.0.1:0 # any\n"
                )
                #expect(!text.contains("one two") && line.hasPrefix("  password: \"$scrypt$ln=15,r=8,p=1$"))
                let hash = try #require(line.split(separator: "\"").dropFirst().first)
                #expect(try PasswordHash(parsing: String(hash))?.matches("one two three") == true)
                for arguments in [["config", "show"], ["config", "show", "--json"], ["config", "check"]] {
                    let shown = try await bench.runBare(arguments + ["--config", "booksync.yaml"])
                    #expect(shown.exitCode == 0, "\(shown.errors)")
                    #expect(!(shown.output + shown.errors).contains("scrypt"))
                }
            }
        }

        @Test func `a new password ends the logins of a server that runs, and is the one that counts`() async throws {
            try await withWorkbench { bench in
                try await bench.serveGuarded { shelf in
                    let cookie = try await shelf.logIn().cookie
                    #expect(try await shelf.status(cookie) == 200)
                    let set = try await bench.shell(
                        "echo 'one two three' | $BOOKSYNC serve --set-password --library L --config booksync.yaml")
                    #expect(set.exitCode == 0 && set.errors.contains("takes the new password"), "\(set.errors)")
                    try await waitUntil("the cookie is refused") { try await shelf.status(cookie) != 200 }
                    #expect(try await shelf.status(cookie) == 401)
                    try await waitUntil("the new password counts") {
                        try await shelf.logIn("one two three").cookie != nil
                    }
                    #expect(try await shelf.logIn().cookie == nil)
                }
            }
        }

        @Test func `a password that was changed in the file counts at once, and a file without one does not`()
            async throws
        {
            try await withWorkbench { bench in
                try await bench.serveGuarded { shelf in
                    let cookie = try await shelf.logIn().cookie
                    let bearer = ["Authorization: Bearer \(ServedShelf.token)"]
                    for (text, told) in [
                        ("serve: { password: [", "the configuration is not read again"), ("", "the old ones count"),
                    ] {
                        try bench.configure(text)
                        let asking = Task { while !Task.isCancelled { _ = try await shelf.status(cookie) } }
                        try await shelf.product.waitForErrors(containing: told)
                        asking.cancel()
                        #expect(try await shelf.status(cookie) == 200)
                        #expect(try await shelf.status(nil) == 401)
                    }
                    let hash = try PasswordHash.make(of: "four five six").secretText
                    try bench.configure("serve:\n  password: \(hash)\n")
                    try await waitUntil("the cookie is refused") { try await shelf.status(cookie) == 401 }
                    #expect(try await shelf.logIn("four five six").cookie != nil)
                    #expect(try await shelf.send("/api/v1/books", bearer).status == 401)
                }
            }
        }

        @Test func `what cannot be written is printed, and what is no password is not taken`() async throws {
            try await withWorkbench { bench in
                try bench.configure("serve: { listen: 8731 }\n")
                let set = try await bench.shell(
                    "echo 'one two three' | $BOOKSYNC serve --set-password --config booksync.yaml")
                #expect(set.exitCode == 78 && set.errors.contains("was not changed"), "\(set.errors)")
                #expect(
                    set.outputLines.first == "serve:"
                        && set.outputLines.last?.hasPrefix("  password: \"$scrypt$") == true)
                #expect(try String(contentsOf: bench.configuration, encoding: .utf8) == "serve: { listen: 8731 }\n")
                for wrong in [
                    "echo short", "echo", "true", "printf '\\377\\377\\377\\377\\377\\377\\377\\377'",
                    "head -c 9999 /dev/zero",
                ] {
                    let refused = try await bench.shell("\(wrong) | $BOOKSYNC serve --set-password --config new.yaml")
                    #expect(refused.exitCode == 64 && refused.errors.contains("the password is not taken"), "\(wrong)")
                }
                #expect(!FileManager.default.fileExists(atPath: bench.folder.appending(path: "new.yaml").path))
                let both = try await bench.runBare(["serve", "--set-password", "--rotate-apps"])
                #expect(both.exitCode == 64)
            }
        }

        @Test func `a password that stands in the file itself is an error that tells what to do, and is not quoted`()
            async throws
        {
            try await withWorkbench { bench in
                try bench.configure("serve:\n  password: one two three\n")
                let result = try await bench.run("serve", "--config", "booksync.yaml")
                #expect(result.exitCode == 78 && result.errors.contains("booksync serve --set-password"))
                #expect(result.errors.contains("line 2") && !result.errors.contains("two"))
                // And what it tells to do can be done.
                let set = try await bench.shell(
                    "echo 'one two three' | $BOOKSYNC serve --set-password --config booksync.yaml")
                #expect(set.exitCode == 0, "\(set.errors)")
            }
        }

        private static func hasTerminals() async -> Bool {
            await ProductRunner.succeeds(URL(filePath: "/usr/bin/env"), ["python3", "-c", "import pty"])
        }

        @Test(.needs("a Python that opens terminals") { await hasTerminals() })
        func `the terminal shows nothing of the password, and is asked twice`() async throws {
            try await withWorkbench { bench in
                let script = """
                    import os, pty, sys
                    child, terminal = pty.fork()
                    if child == 0:
                        os.execv(os.environ["BOOKSYNC"], ["booksync", "serve", "--set-password", "--config", "new.yaml"])
                    seen = b""
                    answers = [a.encode() for a in sys.argv[1:]]
                    while True:
                        try:
                            part = os.read(terminal, 1000)
                        except OSError:
                            break
                        if not part:
                            break
                        seen += part
                        if answers and seen.endswith(b": "):
                            os.write(terminal, answers.pop(0) + b"\\n")
                    os.write(1, seen)
                    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
                    """
                try Data(script.utf8).write(to: bench.folder.appending(path: "type.py"))
                let differ = try await bench.shell("python3 type.py 'one two three' 'one two four'")
                #expect(differ.exitCode == 64 && differ.output.contains("the two differ"), "\(differ.output)")
                let set = try await bench.shell("python3 type.py 'one two three' 'one two three'")
                #expect(set.exitCode == 0 && set.output.contains("the password is set"), "\(set.output)\(set.errors)")
                #expect(!set.output.contains("one") && !set.output.contains("three"))
            }
        }

        // MARK: Sessions

        @Test func `who has no session is asked to log in, and then goes on to where they were going`() async throws {
            try await withWorkbench { bench in
                try await bench.serveGuarded { shelf in
                    for path in ["/", "/queue", "/books/demo/40111", "/search?q=a"] {
                        let answer = try await shelf.send(path)
                        #expect(
                            answer.status == 303 && answer.fields["location"]?.hasPrefix("/login") == true, "\(path)")
                    }
                    for path in ["/api/v1/books", "/feeds/all.opml", "/media/demo/40111/5000000001.mp3", "/covers/a/b"]
                    {
                        let answer = try await shelf.send(path)
                        #expect(answer.status == 401, "\(path)")
                        #expect(answer.fields["www-authenticate"] == "Bearer realm=\"booksync\"")
                        #expect(!answer.text.contains("40111"))
                    }
                    let wrong = try await shelf.logIn("something else")
                    #expect(wrong.answer.status == 403 && wrong.cookie == nil)
                    try await shelf.product.waitForErrors(containing: "a wrong password")
                    let (answer, cookie) = try await shelf.logIn(to: "/search?q=%E5%90%AC")
                    #expect(answer.status == 303 && answer.fields["location"] == "/search?q=%E5%90%AC")
                    let fields = try #require(answer.fields["set-cookie"])
                    #expect(
                        fields.contains("HttpOnly; SameSite=Lax") && fields.contains("Path=/;")
                            && !fields.contains("Secure"))
                    #expect(try await shelf.status(cookie) == 200)
                    #expect(try await shelf.status(cookie, "/feeds/all.opml") == 200)
                    #expect(
                        try await shelf.send("/login?return=/queue", ["Cookie: \(cookie ?? "")"]).fields["location"]
                            == "/queue")
                }
            }
        }

        @Test func `a session outlives the server, and ends with a logout and with the password`() async throws {
            try await withWorkbench { bench in
                var (one, other): (String?, String?)
                try await bench.serveGuarded { shelf in
                    one = try await shelf.logIn().cookie
                    other = try await shelf.logIn().cookie
                    #expect(one != other)
                }
                try await bench.serveGuarded { shelf in
                    #expect(try await shelf.status(one) == 200)
                    #expect(try await shelf.status(other) == 200)
                    let out = try await shelf.post(
                        "/actions/logout", form: [], ["Cookie: \(one ?? "")", "Origin: \(shelf.address)"])
                    #expect(out.status == 303 && out.fields["location"] == "/login")
                    #expect(out.fields["set-cookie"]?.contains("Max-Age=0") == true)
                    #expect(try await shelf.status(one) == 401)
                    #expect(try await shelf.status(other) == 200)
                }
                let keys = bench.library.appending(path: ".booksync/serve-keys").path
                let facts = try FileManager.default.attributesOfItem(atPath: keys)
                #expect(facts[.posixPermissions] as? Int == 0o600)
                try await bench.serveGuarded { shelf in
                    let status = try await shelf.status(one)
                    #expect(status == 401)
                }
                let hash = try PasswordHash.make(of: "another one")
                try bench.configure("serve:\n  password: \(hash.secretText)\n")
                try await bench.serve("--config", "booksync.yaml") { shelf in
                    #expect(try await shelf.status(other) == 401)
                    let (answer, cookie) = try await shelf.logIn("another one")
                    #expect(answer.status == 303)
                    #expect(try await shelf.status(cookie) == 200)
                }
            }
        }

        @Test func `behind https the cookie is the host's own`() async throws {
            try await withWorkbench { bench in
                try await bench.serveGuarded(settings: "  public-url: https://books.example\n") { shelf in
                    let body = ServedShelf.form([("password", ServedShelf.password)])
                    // It is not printed.
                    var port = 0
                    try await waitUntil("the system lists the port") {
                        port = try await Self.port(of: shelf.product.processIdentifier) ?? 0
                        return port > 0
                    }
                    let direct = ServedShelf(product: shelf.product, address: shelf.address, port: port)
                    let fields = [
                        "Content-Type: application/x-www-form-urlencoded", "Content-Length: \(body.utf8.count)",
                    ]
                    let foreign = try await direct.send(
                        "/actions/login", method: "POST", fields + ["Origin: http://books.example"],
                        host: "books.example", body: body)
                    #expect(foreign.status == 403)
                    let answer = try await direct.send(
                        "/actions/login", method: "POST", fields + ["Origin: https://books.example"],
                        host: "books.example", body: body)
                    let cookie = try #require(answer.fields["set-cookie"])
                    #expect(answer.status == 303 && cookie.hasPrefix("__Host-booksync-"))
                    #expect(cookie.contains("; Path=/; ") && cookie.contains("; Secure"))
                }
            }
        }

        /// Where a process listens, as the system tells.
        private static func port(of process: Int32) async throws -> Int? {
            #if os(Linux)
                let mine = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").compactMap {
                    name in
                    let link = "/proc/\(process)/fd/\(name)"
                    let target = Self.target(of: link)
                    return target.hasPrefix("socket:[") ? String(target.dropFirst(8).dropLast()) : nil
                }
                // To its end: it comes a page at a time.
                let table = try FileHandle(forReadingFrom: URL(filePath: "/proc/net/tcp")).readToEnd() ?? Data()
                for line in String(decoding: table, as: UTF8.self).split(separator: "\n").dropFirst() {
                    let words = line.split(separator: " ")
                    guard words.count > 9, words[3] == "0A", mine.contains(String(words[9])) else { continue }
                    return words[1].split(separator: ":").last.flatMap { Int($0, radix: 16) }
                }
            #endif
            return nil
        }

        private static func target(of link: String) -> String {
            var room = [CChar](repeating: 0, count: 256)
            let count = readlink(link, &room, room.count)
            return String(decoding: room.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        // MARK: Programs and apps

        @Test func `the token lets programs in, and is shown nowhere`() async throws {
            try await withWorkbench { bench in
                try await bench.serveGuarded { shelf in
                    for (field, status) in [
                        ("Bearer \(ServedShelf.token)", 200), ("bearer \(ServedShelf.token)", 200),
                        ("Bearer \(ServedShelf.token)x", 401), ("Bearer ", 401), ("Basic \(ServedShelf.token)", 401),
                        (ServedShelf.token, 401), ("Bearer \(ServedShelf.token.dropLast())", 401),
                    ] {
                        let answer = try await shelf.send("/api/v1/books", ["Authorization: \(field)"])
                        #expect(answer.status == status, "\(field)")
                        #expect(!answer.text.contains("TOKEN"))
                    }
                }
            }
        }

        @Test func `podcast apps need neither, below an address that nobody guesses and that can be taken back`()
            async throws
        {
            try await withWorkbench { bench in
                try await bench.serveGuarded { shelf in
                    #expect(try await shelf.send("/apps/x/feeds/all.opml").status == 404)
                    let key = try bench.appsKey
                    #expect(key.utf8.count >= 22)
                    let list = try await shelf.send("/apps/\(key)/feeds/all.opml")
                    #expect(
                        list.status == 200 && list.text.contains("\(shelf.address)/apps/\(key)/feeds/demo/40111.xml"))
                    let feed = try await shelf.send("/apps/\(key)/feeds/demo/40111.xml")
                    let audio = feed.text.matches(of: /enclosure url="([^"]*)"/).map { String($0.output.1) }
                    #expect(audio.count == 6)
                    #expect(audio.allSatisfy { $0.hasPrefix("\(shelf.address)/apps/\(key)/media/demo/40111/") })
                    let path = String(try #require(audio.first).dropFirst(shelf.address.count))
                    let file = try await shelf.send(path, ["Range: bytes=0-9"])
                    #expect(file.status == 206 && file.body.count == 10)
                    // Players that are pages of other sites may use them.
                    for answer in [list, feed, file] {
                        #expect(answer.fields["cross-origin-resource-policy"] == "cross-origin")
                    }
                    #expect(try await shelf.send("/apps/\(key)/feeds/all.opml", method: "HEAD").status == 200)
                    let nothing = try await shelf.send("/apps/\(key)x/feeds/all.opml")
                    for other in [
                        "/apps/\(key.dropLast())/feeds/all.opml", "/apps", "/apps/", "/apps/\(key)", "/apps/\(key)/",
                        "/apps/\(key)/api/v1/books", "/apps/\(key)/catalog/demo/ClientGetBookDetail.action",
                        "/apps/\(key)/apps/\(key)/feeds/all.opml", "/apps/\(key)/login",
                    ] {
                        let answer = try await shelf.send(other)
                        #expect(answer.status == 404 && answer.body == nothing.body, "\(other)")
                    }
                    let cookie = try await shelf.logIn().cookie
                    // What people copy into their app from the page of a book.
                    let page = try await shelf.send("/books/demo/40111", ["Cookie: \(cookie ?? "")"])
                    #expect(page.text.contains("href=\"\(shelf.address)/apps/\(key)/feeds/demo/40111.xml\""))
                    let rotated = try await shelf.post(
                        "/actions/rotate-apps", form: [("return", "/subscriptions")],
                        ["Cookie: \(cookie ?? "")", "Origin: \(shelf.address)"])
                    #expect(rotated.status == 303 && rotated.fields["location"] == "/subscriptions")
                    #expect(try await shelf.send("/apps/\(key)/feeds/all.opml").status == 404)
                    let next = try bench.appsKey
                    #expect(try await shelf.send("/apps/\(next)/feeds/all.opml").status == 200)
                    // Sessions go on.
                    #expect(try await shelf.status(cookie) == 200)
                    let command = try await bench.run("serve", "--rotate-apps")
                    #expect(command.exitCode == 0, "\(command.errors)")
                    try await waitUntil("the old key leads nowhere") {
                        try await shelf.send("/apps/\(next)/feeds/all.opml").status == 404
                    }
                    let last = try bench.appsKey
                    #expect(!command.output.contains(last))
                    #expect(try await shelf.send("/apps/\(last)/feeds/all.opml").status == 200)
                }
            }
        }

        @Test func `where the keys cannot be kept it works as well, and says so once`() async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111", "-q").exitCode == 0)
                let place = bench.library.appending(path: ".booksync/serve-keys/x")
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
                try await bench.serveGuarded { shelf in
                    let (answer, cookie) = try await shelf.logIn()
                    #expect(answer.status == 303)
                    for _ in 0..<3 { #expect(try await shelf.status(cookie) == 200) }
                    let out = try await shelf.post(
                        "/actions/logout", form: [], ["Cookie: \(cookie ?? "")", "Origin: \(shelf.address)"])
                    #expect(out.status == 303)
                    #expect(try await shelf.status(cookie) == 401)
                    shelf.product.send(signal: SIGTERM)
                    let errors = try await shelf.product.result().errors
                    #expect(errors.matches(of: /the keys of serving cannot be kept/).count == 1, "\(errors)")
                }
                let rotated = try await bench.run("serve", "--rotate-apps")
                #expect(rotated.exitCode == 73, "\(rotated.errors)")
            }
        }

        // MARK: Other machines

        @Test func `other machines are listened to where they have to prove who they are`() async throws {
            try await withWorkbench { bench in
                for place in ["0.0.0.0:0", "[::]:0"] {
                    let refused = try await bench.run("serve", "--listen", place)
                    #expect(refused.exitCode == 64 && refused.errors.contains("booksync serve --set-password"))
                }
                try bench.configure("serve:\n  token: \(ServedShelf.token)\n  hosts: [books.lan]\n")
                try await bench.serve("--config", "booksync.yaml", "--listen", "0.0.0.0:0") { shelf in
                    for (host, status) in [
                        ("192.168.1.2", 401), ("[fd00::1]:80", 401), ("books.lan", 401), ("localhost", 401),
                        ("evil.example", 421), ("books.lan.evil.example", 421), ("2130706433", 421),
                    ] {
                        #expect(try await shelf.send("/api/v1/books", host: host).status == status, "\(host)")
                    }
                    // With no password the token is what is typed.
                    let (answer, cookie) = try await shelf.logIn(ServedShelf.token)
                    #expect(answer.status == 303)
                    #expect(try await shelf.status(cookie) == 200)
                    #expect(try await shelf.logIn("").answer.status == 403)
                    try await shelf.product.waitForErrors(containing: "plain HTTP: others on the network can read")
                }
                let added = try await bench.shell("echo 'long enough' | $BOOKSYNC serve --add-user Kim --library M")
                #expect(added.exitCode == 0, "\(added.errors)")
                try await bench.serve("--listen", "0.0.0.0:0", library: "M") { shelf in
                    try await shelf.product.waitForErrors(containing: "plain HTTP: others on the network can read")
                    shelf.product.send(signal: SIGTERM)
                    #expect(try await shelf.product.result().exitCode == 143)
                }
            }
        }
    }
}
