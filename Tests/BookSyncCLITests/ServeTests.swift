import Foundation
import Support
import Testing

extension ProductTests {
    /// The shelf over HTTP.
    @Suite struct Serve {
        // MARK: Feeds and audio

        /// The values of an attribute or the texts of an element, in the order of the document.
        private static func all(_ pattern: Regex<(Substring, Substring)>, in text: String) -> [String] {
            text.matches(of: pattern).map { String($0.output.1) }
        }

        private static func path(_ url: String) throws -> String {
            let rest = try #require(url.firstRange(of: "://")).upperBound
            return String(url[(try #require(url[rest...].firstIndex(of: "/")))...])
        }

        @Test func `while the store is away nothing is shown, and it is shown again when it is back`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    _ = try await bench.shell("mv L/.booksync/store.sqlite L/away")
                    for path in ["/", "/api/v1/books", "/feeds/all.opml"] {
                        #expect(try await shelf.send(path).status == 503, "\(path)")
                    }
                    _ = try await bench.shell("mv L/away L/.booksync/store.sqlite")
                    #expect(try await shelf.send("/").status == 200)
                }
            }
        }

        @Test func `a feed names the audio, which is the files' bytes under their digests`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let list = try await shelf.send("/feeds/all.opml")
                    #expect(list.status == 200 && list.fields["content-type"] == "text/x-opml; charset=utf-8")
                    let feeds = Self.all(/xmlUrl="([^"]*)"/, in: list.text)
                    #expect(feeds == ["\(shelf.address)/feeds/demo/40111.xml"])
                    let feed = try await shelf.send(try Self.path(feeds[0]))
                    #expect(feed.status == 200 && feed.fields["content-type"] == "application/rss+xml; charset=utf-8")
                    #expect(feed.text.contains("rel=\"self\"") && feed.text.contains(feeds[0]))
                    let audio = Self.all(/enclosure url="([^"]*)"/, in: feed.text)
                    #expect(audio.count == 6 && audio.allSatisfy { $0.hasPrefix(shelf.address + "/media/demo/40111/") })
                    var digests: [String] = []
                    for url in audio {
                        let file = try await shelf.send(try Self.path(url))
                        let digest = sha256(file.body)
                        digests.append(digest)
                        #expect(file.status == 200 && file.fields["content-type"] == "audio/mpeg")
                        #expect(file.fields["content-length"] == "\(file.body.count)")
                        #expect(file.fields["etag"] == "\"sha256-\(digest)\"")
                        #expect(file.fields["repr-digest"]?.hasPrefix("sha-256=:") == true)
                    }
                    #expect(try bench.digests() == digests)

                    let tag = try #require(feed.fields["etag"])
                    let again = try await shelf.send(try Self.path(feeds[0]), ["If-None-Match: \(tag)"])
                    #expect(again.status == 304 && again.body.isEmpty && again.fields["content-length"] == nil)
                    let localhost = try await shelf.send(try Self.path(feeds[0]), host: "localhost:\(shelf.port)")
                    #expect(localhost.text.contains("\"http://localhost:\(shelf.port)/media/demo/40111/"))
                    let guids = /<guid[^>]*>([^<]*)</
                    #expect(Self.all(guids, in: localhost.text) == Self.all(guids, in: feed.text))
                }
            }
        }

        @Test func `audio honours ranges and conditions`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let path = try Self.path(
                        try #require(
                            Self.all(
                                /enclosure url="([^"]*)"/, in: try await shelf.send("/feeds/demo/40111.xml").text
                            ).first))
                    let whole = try await shelf.send(path)
                    let (bytes, count) = (whole.body, whole.body.count)
                    let tag = try #require(whole.fields["etag"])
                    let time = try #require(whole.fields["last-modified"])
                    func expect(
                        _ fields: [String], _ status: Int, _ body: ArraySlice<UInt8>, range: String? = nil
                    ) async throws {
                        let answer = try await shelf.send(path, fields)
                        #expect(answer.status == status, "\(fields)")
                        #expect(answer.body.elementsEqual(body), "\(fields)")
                        #expect(answer.fields["content-range"] == range, "\(fields)")
                    }
                    try await expect(["Range: bytes=0-0"], 206, bytes[..<1], range: "bytes 0-0/\(count)")
                    try await expect(
                        ["Range: bytes=1000-99999"], 206, bytes[1000..<100_000], range: "bytes 1000-99999/\(count)")
                    try await expect(
                        ["Range: bytes=-7"], 206, bytes.suffix(7), range: "bytes \(count - 7)-\(count - 1)/\(count)")
                    try await expect(["Range: bytes=\(count)-"], 416, [], range: "bytes */\(count)")
                    try await expect(["Range: bytes=-0"], 416, [], range: "bytes */\(count)")
                    try await expect(["Range: bytes=0-,0-,0-,0-,0-,0-"], 200, bytes[...])
                    try await expect(["Range: bytes=5-1"], 200, bytes[...])
                    try await expect(["Range: lines=1-2"], 200, bytes[...])
                    try await expect(
                        ["Range: bytes=5-9", "If-Range: \(tag)"], 206, bytes[5..<10], range: "bytes 5-9/\(count)")
                    try await expect(["Range: bytes=5-9", "If-Range: \"other\""], 200, bytes[...])
                    try await expect(["If-None-Match: \"x\", \(tag)"], 304, [])
                    try await expect(["If-Modified-Since: \(time)"], 304, [])
                    try await expect(["If-Match: \"x\""], 412, [])
                    let head = try await shelf.send(path, method: "HEAD", ["Range: bytes=0-0"])
                    #expect(head.status == 200 && head.body.isEmpty && head.fields["content-length"] == "\(count)")
                    #expect(head.fields["etag"] == tag && head.fields["accept-ranges"] == "bytes")
                }
            }
        }

        @Test func `a file that is not the recorded one goes under no recorded tag, and a link not at all`()
            async throws
        {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let audio = Self.all(
                        /enclosure url="([^"]*)"/, in: try await shelf.send("/feeds/demo/40111.xml").text)
                    let files = try bench.files().sorted { $0.key < $1.key }.map(\.value)
                    let before = try await shelf.send(try Self.path(audio[0]), method: "HEAD")
                    let handle = try FileHandle(forWritingTo: files[0])
                    try handle.seekToEnd()
                    try handle.write(contentsOf: Data("more".utf8))
                    try handle.close()
                    let edited = try await shelf.send(try Self.path(audio[0]))
                    #expect(edited.status == 200 && edited.body.suffix(4) == Array("more".utf8)[...])
                    #expect(edited.fields["etag"] != before.fields["etag"] && edited.fields["repr-digest"] == nil)
                    let rest = ["Range: bytes=10-", "If-Range: \(before.fields["etag"] ?? "")"]
                    #expect(try await shelf.send(try Self.path(audio[0]), rest).status == 200)

                    try FileManager.default.removeItem(at: files[1])
                    #expect(try await shelf.send(try Self.path(audio[1])).status == 404)
                    try FileManager.default.createSymbolicLink(
                        atPath: files[1].path, withDestinationPath: "/etc/passwd")
                    #expect(try await shelf.send(try Self.path(audio[1])).status == 404)

                    #expect(try await bench.run("remove", "40111/3").exitCode == 0)
                    #expect(try await shelf.send(try Self.path(audio[2])).status == 404)
                    let feed = try await shelf.send("/feeds/demo/40111.xml")
                    #expect(!feed.text.contains(audio[2]))
                }
            }
        }

        @Test func `HEAD is GET without the body, on everything, and both are guarded`() async throws {
            let paths = [
                "/", "/feeds/all.opml", "/feeds/demo/40111.xml", "/feeds/demo/1.xml", "/api/v1/books", "/api/v1/runs",
                "/api/v1/books?sort=nothing", "/catalog/demo/ClientGetBookDetail.action?id=40111", "/media/x/y/z.mp3",
            ]
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    for path in paths {
                        let get = try await shelf.send(path, [ServedShelf.visit])
                        let head = try await shelf.send(path, method: "HEAD", [ServedShelf.visit])
                        #expect(head.status == get.status && head.body.isEmpty && !get.body.isEmpty, "\(path)")
                        for name in ["content-length", "content-type", "etag"] {
                            #expect(head.fields[name] == get.fields[name], "\(name) of \(path)")
                        }
                        for answer in [get, head] {
                            #expect(answer.fields["x-content-type-options"] == "nosniff", "\(path)")
                            #expect(answer.fields["referrer-policy"] == "no-referrer", "\(path)")
                            #expect(answer.fields["content-security-policy"]?.contains("default-src 'none'") == true)
                            #expect(answer.fields["server"] == nil)
                        }
                    }
                }
            }
        }

        @Test func `a request by another name, with a body, or too large, is refused`() async throws {
            try await withWorkbench { bench in
                try await bench.serve { shelf in
                    for host in ["evil.example", "evil.example:\(shelf.port)", "10.0.0.1", "127.0.0.1.evil.example"] {
                        #expect(try await shelf.send("/api/v1/books", host: host).status == 421, "\(host)")
                    }
                    let fields = ["Accept: text/html,*/*;q=0.8", "Accept-Language: zh-CN,zh;q=0.9"]
                    let page = try await shelf.send("/", fields, host: "evil.example")
                    #expect(page.status == 421 && page.fields["content-type"]?.hasPrefix("text/html") == true)
                    #expect(page.text.contains("lang=\"zh-Hans\"") && page.text.contains("这个服务器没有这个名称"), "\(page.text)")
                    let sent = ["Sec-Fetch-Site: cross-site", "Content-Type: application/x-www-form-urlencoded"]
                    let form = try await shelf.send("/actions/fetch", method: "POST", fields + sent)
                    #expect(form.status == 403 && form.text.contains("<p>请求不是从本服务器的页面发出的"), "\(form.text)")
                    let document = try await shelf.send("/", ["Accept: application/json"], host: "evil.example")
                    #expect(document.fields["content-type"]?.hasPrefix("application/json") == true)
                    #expect(try await shelf.send("/api/v1/books", host: "").status == 400)
                    #expect(try await shelf.send("/api/v1/books", ["Host: evil.example"]).status == 400)
                    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"] {
                        let answer = try await shelf.send("/api/v1/books", method: method)
                        #expect(answer.status == 405 && answer.fields["allow"] == "GET, HEAD", "\(method)")
                    }
                    // The body never comes, and the answer does not wait for it.
                    let body = try await shelf.send("/api/v1/books", ["Content-Length: 1000000"], body: "x")
                    #expect(body.status == 413 && body.fields["connection"] == "close")
                    let chunks = try await shelf.send("/api/v1/books", ["Transfer-Encoding: chunked"], body: "5\r\nab")
                    #expect(chunks.status == 413)
                    let long = "/api/v1/books?q=" + String(repeating: "a", count: 5000)
                    #expect(try await shelf.send(long).status == 414)
                    let wide = "X: " + String(repeating: "a", count: 9000)
                    #expect(try await shelf.send("/api/v1/books", [wide]).status == 400)
                    let many = (0..<200).map { "X\($0): a" }
                    #expect(try await shelf.send("/api/v1/books", many).status == 400)
                    #expect(try await shelf.send("/api/v1/books").text == "[]\n")
                }
            }
        }

        @Test(arguments: ["0.0.0.0:0", "[::]:0", "192.168.1.2:0", "unix:", "nonsense"])
        func `a place that others reach, or that is none, is refused`(_ place: String) async throws {
            try await withWorkbench { bench in
                let result = try await bench.run("serve", "--listen", place)
                #expect(result.exitCode == 64)
                #expect(result.output.isEmpty && result.errors.contains("cannot listen on"), "\(result.errors)")
                #expect(!bench.exists)
            }
        }

        // MARK: The end

        @Test(arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143)), (SIGHUP, Int32(129))])
        func `a signal ends the server at once where nobody is answered`(_ signal: Int32, _ code: Int32) async throws {
            try await withWorkbench { bench in
                try await bench.serve { shelf in
                    // A connection that asks nothing is no reason to stay.
                    let port = shelf.port
                    let idle = Task { try await rawExchange(port: port, sending: "GET /") }
                    let answer = try await shelf.send("/api/v1/books")
                    #expect(answer.status == 200)
                    shelf.product.send(signal: signal)
                    let result = try await shelf.product.result()
                    #expect(result.exitCode == code)
                    _ = await idle.result
                }
                #expect(!bench.exists)
            }
        }

        @Test func `a socket is a server's own, and goes with it`() async throws {
            try await withWorkbench { bench in
                let path = bench.folder.appending(path: "s").path
                let arguments = ["serve", "--library", "L", "--listen", "unix:s"]
                try await withProduct(arguments, in: bench.folder) { first in
                    #expect(try await first.waitForOutput(containing: "unix") == "unix:s")
                    let second = try await bench.runBare(arguments)
                    #expect(second.exitCode == 74 && second.errors.contains("another server"), "\(second.errors)")
                    #expect(FileManager.default.fileExists(atPath: path))
                    first.send(signal: SIGTERM)
                    let result = try await first.result()
                    #expect(result.exitCode == 143)
                    #expect(!FileManager.default.fileExists(atPath: path))
                }
                // What a killed server left is no hindrance; a file of the user's is.
                try await withProduct(arguments, in: bench.folder) { killed in
                    try await killed.waitForOutput(containing: "unix")
                    killed.send(signal: SIGKILL)
                    _ = try await killed.result()
                }
                #expect(FileManager.default.fileExists(atPath: path))
                try await withProduct(arguments, in: bench.folder) { next in
                    try await next.waitForOutput(containing: "unix")
                    next.send(signal: SIGTERM)
                    #expect(try await next.result().exitCode == 143)
                }
                try Data("mine".utf8).write(to: bench.folder.appending(path: "s"))
                let refused = try await bench.runBare(arguments)
                #expect(refused.exitCode == 74 && refused.errors.contains("something else"), "\(refused.errors)")
                #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
            }
        }

        @Test func `an address in use is told, and so is a library that is lost`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let second = try await bench.run("serve", "--listen", "127.0.0.1:\(shelf.port)")
                    #expect(second.exitCode == 74 && second.errors.contains("in use"), "\(second.errors)")
                }
                try Data("no store".utf8).write(to: bench.library.appending(path: ".booksync/store.sqlite"))
                let broken = try await bench.run("serve", "--listen", "127.0.0.1:0")
                #expect(broken.exitCode == 74, "\(broken.errors)")
            }
        }
    }
}
