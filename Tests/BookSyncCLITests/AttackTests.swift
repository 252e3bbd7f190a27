import BookSync
import Foundation
import Support
import Testing

extension ProductTests {
    /// Attacks on the served shelf, each tried against the built program.
    @Suite struct Attack {
        private static func cookieField(_ cookie: String?) -> [String] { cookie.map { ["Cookie: \($0)"] } ?? [] }

        // MARK: Paths

        /// `..` in every spelling.
        private static let ups = [
            "..", "%2e%2e", "%2E%2E", ".%2e", "%252e%252e", "%c0%ae%c0%ae", "%e0%80%ae%e0%80%ae", "..%00", "..;",
            "..%3b",
            "%uff0e%uff0e", "%u002e%u002e", "..%c0%af..", "..%ef%bc%8f..", "....", "...", "\u{FF0E}\u{FF0E}", "..\\..",
            "..%5c..",
            "..%255c..", "%2e%2e%2f%2e%2e", "..%2f..", "%2e%2e%5c%2e%2e", "..%252f..", "~root", "%7eroot", "C:",
            "..%0d%0a", "..%09", "%2E.", "..%c0%af", "%00", "~",
        ]

        @Test func `no spelling of a path leads out of the shelf, and nothing is listed`() async throws {
            var paths: [String] = []
            for up in Self.ups {
                let far = Array(repeating: up, count: 8).joined(separator: "/")
                paths += [
                    "/\(far)/etc/passwd", "/media/\(far)/etc/passwd", "/media/demo/\(up)/\(up)/etc/passwd",
                    "/media/demo/40111/\(up)/\(up)/.booksync/serve-keys",
                    "/media/demo/40111/\(up)%2f.booksync%2fserve-keys.mp3",
                    "/static/\(far)/etc/passwd", "/static/\(up)/shelf.css", "/covers/demo/\(up)/\(up)/etc/passwd",
                    "/feeds/\(far)/etc/passwd.xml", "/apps/\(up)/feeds/all.opml", "/\(up)/L/.booksync/store.sqlite",
                ]
            }
            paths += [
                "/.booksync/serve-keys", "/media/.booksync/serve-keys", "/media/L/.booksync/serve-keys", "//etc/passwd",
                "/media//etc/passwd", "/media///etc/passwd", "/file:///etc/passwd", "/media/file:/etc/passwd",
                "/static/",
                "/media/", "/media/demo/", "/media/demo/40111/", "/feeds/", "/feeds/demo/", "/covers/", "/covers/demo/",
                "/catalog/",
                "/apps/", "/actions/", "/static/.", "/static/%00", "/media/demo/40111/5000000001.mp3%00.txt",
                "/static//shelf.css", "/media/.booksync/partial/x.part", "/media/demo/40111/.mp3",
                "/media/demo/40111/mp3.", "/api/v1", "/api/v1/books/demo/40111/episodes/x", "/catalog/demo/x",
                "/feeds/demo/.xml",
            ]
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    for path in paths {
                        let answer = try await shelf.send(path)
                        #expect([400, 404, 405].contains(answer.status), "\(path): \(answer.status)")
                        for secret in ["root:", "SQLite", "\"apps\":", "L/"] {
                            #expect(!answer.text.contains(secret), "\(path)")
                        }
                    }
                    for target in [
                        "http://127.0.0.1/../../etc/passwd", "http://127.0.0.1//etc/passwd", "file:///etc/passwd",
                        "/media/demo/40111/5000000001.mp3\u{0}", "\\..\\etc\\passwd", "..", "../../etc/passwd",
                        "etc/passwd",
                        "*", "?/etc/passwd", "127.0.0.1:22",
                    ] {
                        let answer = try await shelf.send(target)
                        #expect([400, 404].contains(answer.status) && !answer.text.contains("root:"), "\(target)")
                    }
                    // The form that proxies use is judged by the host that it names, which outranks the Host field.
                    let whole = "http://127.0.0.1/api/v1/books"
                    #expect(try await shelf.send(whole).status == 200)
                    #expect(try await shelf.send(whole, host: "evil.example").status == 200)
                    for host in ["evil.example", "user@127.0.0.1", ""] {
                        #expect(try await shelf.send("http://\(host)/api/v1/books").status == 421, "\(host)")
                    }
                    try await shelf.expectWell("/api/v1/books")
                }
            }
        }

        @Test func `a link that leads out of the library is not followed, whatever it is put in place of`() async throws
        {
            try await withWorkbench { bench in
                let secret = bench.folder.appending(path: "secret")
                try Data("root: SECRET".utf8).write(to: secret)
                try await bench.serveShortBook { shelf in
                    let files = try bench.files().sorted { $0.key < $1.key }.map(\.value)
                    try FileManager.default.removeItem(at: files[0])
                    try FileManager.default.createSymbolicLink(at: files[0], withDestinationURL: secret)
                    let feed = try await shelf.send("/feeds/demo/40111.xml")
                    let audio = feed.text.matches(of: /enclosure url="([^"]*)"/).map { String($0.output.1) }
                    // Then the folder.
                    for round in 0..<2 {
                        if round == 1 {
                            let folder = files[0].deletingLastPathComponent()
                            let away = bench.folder.appending(path: "away")
                            try FileManager.default.moveItem(at: folder, to: away)
                            try FileManager.default.createSymbolicLink(at: folder, withDestinationURL: away)
                        }
                        for url in round == 0 ? Array(audio.prefix(1)) : audio {
                            let answer = try await shelf.send(String(url.dropFirst(shelf.address.count)))
                            #expect(answer.status == 404 && !answer.text.contains("SECRET"), "round \(round)")
                        }
                    }
                }
            }
        }

        // MARK: Names and methods

        @Test func `another name, two names, and names that look alike are refused`() async throws {
            try await withWorkbench { bench in
                try await bench.serveGuarded { shelf in
                    for host in [
                        "evil.example", "evil.example:\(shelf.port)", "127.0.0.1.evil.example",
                        "localhost.evil.example",
                        "127.0.0.1@evil.example", "evil.example#127.0.0.1", "2130706433", "0x7f000001", "017700000001",
                        "127.1",
                        "[::ffff:10.0.0.1]", "192.168.1.1", "localhost.", "0.0.0.0",
                    ] {
                        for path in ["/", "/login", "/api/v1/books", "/apps/x/feeds/all.opml", "/static/shelf.css"] {
                            let answer = try await shelf.send(path, host: host)
                            #expect([400, 421].contains(answer.status), "\(host) \(path): \(answer.status)")
                        }
                    }
                    let own = "127.0.0.1:\(shelf.port)"
                    for fields in [["Host: evil.example"], ["Host: \(own)"], ["host: evil.example", "HOST: \(own)"]] {
                        #expect(try await shelf.send("/login", fields).status == 400)
                    }
                    #expect(try await shelf.send("/login", host: "").status == 400)
                    // What proxies say counts for nothing here.
                    let forwarded = [
                        "X-Forwarded-Host: \(own)", "Forwarded: host=\(own)", "X-Original-URL: /api/v1/books",
                    ]
                    #expect(try await shelf.send("/login", forwarded, host: "evil.example").status == 421)
                }
            }
        }

        @Test func `other methods are not answered, and none is smuggled in`() async throws {
            try await withWorkbench { bench in
                try await bench.serveGuarded { shelf in
                    let cookie = Self.cookieField(try await shelf.logIn().cookie)
                    for method in ["TRACE", "CONNECT", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "BREW"] {
                        for path in ["/", "/api/v1/books", "/actions/login", "/media/demo/40111/5000000001.mp3"] {
                            let answer = try await shelf.send(path, method: method, cookie + ["X-Secret: 7"])
                            #expect(
                                [400, 403, 405, 501].contains(answer.status), "\(method) \(path): \(answer.status)")
                            #expect(!answer.text.contains("X-Secret"))
                            #expect(answer.fields["access-control-allow-origin"] == nil)
                        }
                    }
                    let tunnel = try await shelf.send("127.0.0.1:22", method: "CONNECT", cookie)
                    #expect(tunnel.status >= 400)
                    for field in ["X-HTTP-Method-Override: POST", "X-Method-Override: DELETE"] {
                        #expect(try await shelf.send("/actions/logout", cookie + [field]).status == 405)
                    }
                }
            }
        }

        // MARK: Cross-site requests

        @Test func `nothing changes by what another site has a browser send`() async throws {
            try await withWorkbench { bench in
                try await bench.serveGuarded { shelf in
                    let cookie = try await shelf.logIn().cookie
                    let token = try await shelf.formToken()
                    let field = Self.cookieField(cookie)
                    let foreign = [
                        ["Origin: http://evil.example"], ["Origin: null"], [], ["Sec-Fetch-Site: cross-site"],
                        ["Sec-Fetch-Site: same-site"], ["Sec-Fetch-Site: none"], ["Origin: http://127.0.0.1:1"],
                        ["Origin: \(shelf.address).evil.example"], ["Origin: https://127.0.0.1:\(shelf.port)"],
                        ["Origin: \(shelf.address)", "Origin: http://evil.example"],
                        ["Origin: \(shelf.address)", "Sec-Fetch-Site: cross-site"], ["Referer: \(shelf.address)/"],
                    ]
                    for origin in foreign {
                        for path in ["/actions/logout", "/actions/rotate-apps", "/actions/fetch", "/actions/remove"] {
                            // The token of another browser is no token either.
                            for fields in [[], [("token", "x")], [("token", token)], [("token", "")]] {
                                let answer = try await shelf.post(path, form: fields, field + origin)
                                #expect(answer.status == 403, "\(origin) \(path): \(answer.status)")
                            }
                        }
                        guard !origin.isEmpty, origin[0] != "Referer: \(shelf.address)/" else { continue }
                        for type in ["application/json", "text/plain", "application/x-www-form-urlencoded"] {
                            let body = "{\"all\":true}"
                            let fields = ["Content-Type: \(type)", "Content-Length: \(body.utf8.count)"]
                            let answer = try await shelf.send(
                                "/api/v1/remove", method: "POST", field + fields + origin, body: body)
                            #expect(answer.status == 403, "\(origin) \(type): \(answer.status)")
                        }
                    }
                    // Without a browser a program may, but not with the types that forms can have.
                    for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
                        let fields = (type.isEmpty ? [] : ["Content-Type: \(type)"]) + ["Content-Length: 2"]
                        let answer = try await shelf.send("/api/v1/remove", method: "POST", field + fields, body: "{}")
                        #expect(answer.status == 415, "\(type): \(answer.status)")
                    }
                    #expect(try bench.files().count == 6)
                    #expect(try await shelf.status(cookie) == 200)
                    // Our own pages hide where they are, and have the token.
                    let own = try await shelf.send("/login", field)
                    #expect(own.status == 303)
                }
            }
        }

        @Test func `no other site logs a browser in as somebody else with a form that was given to another browser`()
            async throws
        {
            try await withWorkbench { bench in
                try await bench.serveGuarded { shelf in
                    let page = try await shelf.send("/login")
                    let token = try #require(page.text.firstMatch(of: /name="token" value="([^"]+)"/)).output.1
                    let cookie = try #require(page.fields["set-cookie"]?.firstMatch(of: /booksync-visit=[^;]+/)).output
                    #expect(page.fields["set-cookie"]?.contains("HttpOnly; SameSite=Lax") == true)
                    let form = [("password", ServedShelf.password), ("token", "\(token)")]
                    for origin in [["Origin: null"], []] {
                        for browser in [ServedShelf.visit, "Cookie: none=1", "Cookie: booksync-visit="] {
                            #expect(
                                try await shelf.post("/actions/login", form: form, [browser] + origin).status == 403)
                        }
                        let own = try await shelf.post("/actions/login", form: form, ["Cookie: \(cookie)"] + origin)
                        #expect(own.status == 303)
                    }
                    // Each browser gets a cookie once, and a token of its own.
                    #expect(try await shelf.send("/login", ["Cookie: \(cookie)"]).fields["set-cookie"] == nil)
                    #expect(try await shelf.send("/login").text.contains(token) == false)
                }
            }
        }

        // MARK: Logging in

        @Test func `a cookie that was forged, altered, or of another library is none`() async throws {
            try await withWorkbench { other in
                var foreign: String?
                try await other.serveGuarded { shelf in foreign = try await shelf.logIn().cookie }
                try await withWorkbench { bench in
                    try await bench.serveGuarded { shelf in
                        let cookie = try #require(try await shelf.logIn().cookie)
                        #expect(try await shelf.status(cookie) == 200)
                        let first = try #require(cookie.split(separator: ";").first.map(String.init))
                        let name = try #require(first.split(separator: "=").first)
                        let value = first.dropFirst(name.count + 1)
                        let parts = value.split(separator: ".").map(String.init)
                        let theirs = try #require(foreign?.split(separator: ";").first?.split(separator: "=").last)
                        var forged = [
                            "\(name)=", "\(name)=x", "\(name)=..", "\(name)=\(theirs)",
                            "\(name)=\(parts[0]).9999999999.\(parts[2])",
                            "\(name)=\(parts[1]).\(parts[0]).\(parts[2])", "\(name)=\(parts[0]).\(parts[1])",
                            "\(name)=\(value)=",
                            "\(name)=\(parts[0]).\(parts[1]).", "\(name)=\(value.uppercased())", "x\(first)",
                            foreign ?? "",
                            "\(name)=\"\(value)\"", "\(name)=" + String(repeating: "A", count: 4000),
                        ]
                        // What the browser is known by is no session.
                        let known = try #require(cookie.split(separator: ";").last?.split(separator: "=").last)
                        forged.append("\(name)=\(known)")
                        for cookie in forged { #expect(try await shelf.status(cookie) == 401, "\(cookie)") }
                        for index in stride(from: 0, to: value.count, by: 7) {
                            var altered = Array(value)
                            altered[index] = altered[index] == "A" ? "B" : "A"
                            #expect(try await shelf.status("\(name)=\(String(altered))") == 401)
                        }
                    }
                }
            }
        }

        @Test func `ten thousand guesses cost few hashes, and whoever knows the password is let in`() async throws {
            try await withWorkbench { bench in
                try await bench.serveGuarded { shelf in
                    let mine = try #require(try await shelf.logIn().cookie)
                    let token = try await shelf.formToken()
                    let port = shelf.port
                    let body = ServedShelf.form([("password", "a wrong guess"), ("token", token)])
                    let request = """
                        POST /actions/login HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(ServedShelf.visit)\r
                        Content-Type: application/x-www-form-urlencoded\r
                        Content-Length: \(body.utf8.count)\r\n\r\n\(body)
                        """
                    let last = request.replacing("Content-Length", with: "Connection: close\r\nContent-Length")
                    let begun = ContinuousClock.now
                    // 20 attackers on one address, 500 guesses each.
                    let text = try await withThrowingTaskGroup(of: String.self) { group in
                        for _ in 0..<20 {
                            group.addTask {
                                var text = ""
                                for _ in 0..<25 {
                                    let all = String(repeating: request, count: 19) + last
                                    let raw = try await rawExchange(port: port, sending: all)
                                    text += raw.head + String(decoding: raw.body, as: UTF8.self)
                                }
                                return text
                            }
                        }
                        // Meanwhile others are answered as ever.
                        for _ in 0..<5 {
                            let answer = try await shelf.send("/api/v1/books", ["Cookie: \(mine)"])
                            #expect(answer.status == 200)
                        }
                        // And the one who was here before logs in anew, from the attackers' own address.
                        #expect(try await shelf.logIn(cookie: mine).answer.status == 303)
                        #if os(Linux)
                            // A newcomer from elsewhere as well.
                            #expect(try await shelf.logIn(from: 2).answer.status == 303)
                        #endif
                        var text = ""
                        for try await part in group { text += part }
                        return text
                    }
                    let seconds = Double(begun.duration(to: .now).components.seconds)
                    let hashed = text.matches(of: /HTTP\/1\.1 403/).count
                    let refused = text.matches(of: /HTTP\/1\.1 429/).count
                    #expect(hashed + refused == 10_000, "\(hashed) and \(refused)")
                    #expect(hashed <= 5 + Int(seconds / 30) + 1 && hashed > 0)
                    #expect(text.matches(of: /\r\nRetry-After: [1-9]/).count == refused)
                    // Now that it is over, the attackers' address is not shut out for ever: a guess is looked at every 30 s,
                    // and one that comes earlier is told how long to wait.
                    let next = try await shelf.logIn("a wrong guess").answer
                    if next.status != 403 {
                        #expect(next.status == 429)
                        #expect((1...30).contains(try #require(next.fields["retry-after"].flatMap { Int($0) })))
                    }
                    try await shelf.expectWell("/login")
                }
            }
        }

        @Test func `where the login leads to is only ever our own`() async throws {
            try await withWorkbench { bench in
                try await bench.serveGuarded { shelf in
                    for path in [
                        "//evil.example", "/\\evil.example", "https://evil.example", "\\\\evil.example",
                        "/\t/evil.example",
                        "javascript:alert(1)", "/\r\nSet-Cookie: a=b", "/%0d%0aSet-Cookie:%20a=b//", "///evil.example",
                        "/a//evil",
                        "/..//evil.example", "//evil.example/%2f..", "/.//evil.example", "evil.example",
                        "/ /evil.example",
                    ] {
                        let query = path.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                        let page = try await shelf.send("/login?return=\(query)")
                        #expect(page.status == 200 && page.text.contains("name=\"return\" value=\"/\""), "\(path)")
                        #expect(page.fields["set-cookie"]?.contains("a=b") == false)
                    }
                    let (answer, _) = try await shelf.logIn(to: "//evil.example/\r\nSet-Cookie: a=b")
                    #expect(answer.status == 303 && answer.fields["location"] == "/")
                    #expect(answer.fields["set-cookie"]?.contains("a=b") == false)
                    let there = try await shelf.send("//evil.example/..")
                    #expect(there.status == 404)
                }
            }
        }

        // MARK: What is said

        @Test func `what is asked for is not put into the answer's fields, nor unescaped into pages`() async throws {
            try await withWorkbench { bench in
                try await bench.serveGuarded { shelf in
                    let cookie = Self.cookieField(try await shelf.logIn().cookie)
                    let script = "%3Cscript%3Ealert(1)%3C/script%3E%22%27%3E%3Cimg%20src=x%20onerror=alert(1)%3E"
                    for path in [
                        "/search?q=\(script)", "/login?return=/\(script)", "/api/v1/search?q=\(script)", "/\(script)",
                        "/books/\(script)/1", "/search?q=%0d%0aX-Injected:%20yes", "/api/v1/books?sort=\(script)",
                        "/subscriptions?ref=\(script)", "/books/demo/40111?page=\(script)&state=\(script)",
                    ] {
                        for fields in [cookie, []] {
                            let answer = try await shelf.send(path, fields)
                            #expect(answer.fields["x-injected"] == nil, "\(path)")
                            #expect(answer.fields["x-content-type-options"] == "nosniff", "\(path)")
                            if answer.fields["content-type"]?.hasPrefix("text/html") == true {
                                #expect(
                                    !answer.text.contains("<script>alert") && !answer.text.contains("<img src=x"),
                                    "\(path)")
                            }
                            let policy = answer.fields["content-security-policy"] ?? ""
                            #expect(
                                policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
                                "\(path)")
                            #expect(policy.contains("base-uri 'none'") && !policy.contains("unsafe"), "\(path)")
                            #expect(answer.fields["referrer-policy"] == "no-referrer")
                            #expect(answer.fields["cross-origin-opener-policy"] == "same-origin")
                            #expect(answer.fields["cross-origin-resource-policy"] == "same-origin")
                        }
                    }
                }
            }
        }

        @Test func `no secret is in any answer, nor in what the program prints and logs`() async throws {
            try await withWorkbench { bench in
                try await bench.serveGuarded { shelf in
                    let (login, cookie) = try await shelf.logIn()
                    _ = try await shelf.logIn("a wrong guess")
                    var said = ""
                    for path in [
                        "/", "/queue", "/runs", "/subscriptions", "/doctor", "/login", "/search?q=a",
                        "/books/demo/40111",
                        "/api/v1/books", "/api/v1/books/demo/40111", "/api/v1/books/demo/40111/episodes",
                        "/api/v1/queue",
                        "/api/v1/runs", "/api/v1/subscriptions", "/api/v1/openapi.json", "/feeds/all.opml",
                        "/feeds/demo/40111.xml", "/catalog/demo/ClientGetBookDetail.action?id=40111", "/api/v1/nothing",
                    ] {
                        let answer = try await shelf.send(path, Self.cookieField(cookie))
                        said += answer.text + answer.fields.values.joined(separator: "\n")
                    }
                    shelf.product.send(signal: SIGTERM)
                    let result = try await shelf.product.result()
                    said += result.output + result.errors
                    let keys = try bench.serveKeys
                    let session = try #require(keys.firstMatch(of: /"session":\[([^\]]+)\]/)).output.1
                    let value = try #require(login.fields["set-cookie"]?.firstMatch(of: /=([^;]+);/)).output.1
                    for secret in [
                        ServedShelf.password, ServedShelf.token, ServedShelf.hash, "scrypt", "a wrong guess",
                        String(session),
                        String(value),
                    ] {
                        #expect(!said.contains(secret))
                    }
                }
            }
        }
    }
}
