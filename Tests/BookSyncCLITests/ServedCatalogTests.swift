import BookSync
import Foundation
import Support
import Testing

extension ProductTests {
    /// What the server says to programs: another booksync, and whoever reads its API.
    @Suite struct ServedCatalog {
        private static func configuration(_ address: String) -> String {
            """
            sources:
              mirror:
                type: book-resource
                url: \(address)/catalog/demo/ClientGetBookResource.action
                detail-url: \(address)/catalog/demo/ClientGetBookDetail.action
                allow-private-addresses: true
            """
        }

        @Test func `one booksync mirrors another: the same files at the same paths, and then nothing to do`()
            async throws
        {
            try await withWorkbench { bench in
                let fetched = try await bench.run("fetch", "30776", "-q")
                try #require(fetched.exitCode == 0, "\(fetched.errors)")
                try await bench.serve("--base-path", "/shelf") { shelf in
                    #expect(shelf.address.hasSuffix(":\(shelf.port)/shelf"))
                    let typed = try await shelf.send("/shelf?sort=title")
                    #expect(typed.status == 303 && typed.fields["location"] == "/shelf/?sort=title")
                    #expect(try await shelf.send("/shelfs").status == 404)
                    #expect(try await shelf.send("/shelf", method: "POST").status == 405)
                    try bench.configure(Self.configuration(shelf.address))
                    let arguments = ["fetch", "mirror:30776", "--library", "M", "--json"]
                    let first = try await bench.runBare(arguments, environment: bench.configured)
                    #expect(first.exitCode == 0, "\(first.errors)")
                    #expect(try first.summary().number("fetched") == 110)
                    #expect(try first.summary().number("locked") == 2)
                    let copy = bench.folder.appending(path: "M")
                    func contents(_ folder: URL) throws -> [String: String] {
                        try bench.files(in: folder).mapValues { try sha256(ofFileAt: $0.path) }
                    }
                    #expect(try contents(copy) == contents(bench.library))
                    #expect(try contents(copy).count == 110)

                    let second = try await bench.runBare(arguments, environment: bench.configured)
                    #expect(second.exitCode == 0, "\(second.errors)")
                    #expect(try second.summary().number("kept") == 110)
                    #expect(try second.summary().number("fetched") == 0)
                    #expect(try second.summary().number("bytes_received") == 0)

                    // The digest came with the bytes, and fitted them.
                    let shown = try await bench.runBare(
                        ["show", "mirror:30776/7", "--library", "M", "--json"], environment: bench.configured)
                    #expect(try JSONObject(shown.output)["verified"] == "digest")

                    let unknown = try await bench.runBare(
                        ["fetch", "mirror:1", "--library", "M"], environment: bench.configured)
                    #expect(unknown.exitCode == 66, "\(unknown.errors)")
                }
            }
        }

        @Test func `the API answers what the commands print as JSON`() async throws {
            let pairs: [(path: String, arguments: [String])] = [
                ("books", ["list"]), ("books?sort=title&reverse", ["list", "--sort", "title", "--reverse"]),
                ("books?missing", ["list", "--missing"]), ("books?state=locked", ["list", "--state", "locked"]),
                ("books/demo/40111", ["show", "40111"]), ("books/demo/40111/episodes", ["list", "40111"]),
                (
                    "books/demo/40111/episodes?state=finished&sort=bytes",
                    ["list", "40111", "--state", "finished", "--sort", "bytes"]
                ),
                ("books/demo/40111/episodes/3", ["show", "40111/3"]),
                ("search?q=%E5%A4%9C%E8%88%AA&limit=2", ["search", "夜航", "--limit", "2"]), ("queue", ["queue"]),
                ("subscriptions", ["subscriptions"]), ("runs?last=1", ["runs", "--last", "1"]),
            ]
            try await withWorkbench { bench in
                #expect(try await bench.run("subscribe", "demo:40111", "--title", "夜").exitCode == 0)
                try await bench.serveShortBook { shelf in
                    for (path, arguments) in pairs {
                        let answer = try await shelf.send("/api/v1/" + path)
                        let printed = try await bench.runBare(arguments + ["--json", "--library", "L"])
                        #expect(answer.status == 200 && printed.exitCode == 0, "\(path)")
                        #expect(answer.text == printed.output, "\(path)")
                        #expect(answer.fields["content-type"] == "application/json; charset=utf-8")
                    }
                    for path in ["books?sort=size", "books?state=x", "runs?last=0", "search", "search?q=x&limit=-1"] {
                        #expect(try await shelf.send("/api/v1/" + path).status == 400, "\(path)")
                    }
                    for path in ["books/demo/1", "books/x/40111/episodes", "books/demo/40111/episodes/99", "nothing"] {
                        #expect(try await shelf.send("/api/v1/" + path).status == 404, "\(path)")
                    }
                }
            }
        }

        @Test func `beside a run there is what is finished, and nothing of what is not`() async throws {
            try await withWorkbench { bench in
                let paced = ["BOOKSYNC_DEMO_PACE": "2000"]
                try await bench.start("fetch", "40111", "--json", "--jobs", "2", environment: paced) { run in
                    try await run.waitForOutput(containing: "\"progress\"")
                    try await bench.serve { shelf in
                        let queue = try await shelf.send("/api/v1/queue")
                        #expect(queue.status == 200 && queue.text.contains("\"state\": \"downloading\""))
                        let feed = try await shelf.send("/feeds/demo/40111.xml")
                        #expect(feed.status == 200 && !feed.text.contains("<enclosure"))
                        for section in 1...6 {
                            let audio = try await shelf.send("/media/demo/40111/500000000\(section).mp3")
                            #expect(audio.status == 404)
                        }
                        let listing = try await shelf.send(
                            "/catalog/demo/ClientGetBookResource.action?bookId=40111&pageNum=1&pageSize=2")
                        #expect(listing.text.contains("\"path\": null") && !listing.text.contains("\"path\": \""))
                        let runs = try await shelf.send("/api/v1/runs")
                        #expect(runs.text.contains("\"under_way\""))
                    }
                    // The server held nothing up.
                    run.send(signal: SIGINT)
                    let result = try await run.result()
                    #expect(result.exitCode == 130)
                }
            }
        }

        @Test func `the configuration says where and how the shelf is served`() async throws {
            try await withWorkbench { bench in
                try bench.configure(
                    "serve: { listen: \"127.0.0.1:0\", base-path: /shelf, public-url: \"http://localhost/x\" }")
                let arguments = ["serve", "--library", "L"]
                try await withProduct(arguments, environment: bench.configured, in: bench.folder) { product in
                    let line = try await product.waitForOutput(containing: "http")
                    #expect(line == "http://localhost/x")
                }
                // The environment wins over the file, and a flag over both.
                let others = bench.configured.merging(["BOOKSYNC_SERVE_LISTEN": "0.0.0.0:0"]) { $1 }
                let open = try await bench.runBare(arguments, environment: others)
                #expect(open.exitCode == 64 && open.errors.contains("password"), "\(open.errors)")
                let here = arguments + ["--listen", "unix:s"]
                try await withProduct(here, environment: others, in: bench.folder) { product in
                    let line = try await product.waitForOutput(containing: "unix:s")
                    #expect(line == "unix:s")
                }
                for wrong in ["listen: x", "base-path: shelf", "base-path: /a/", "public-url: ftp://a", "port: 1"] {
                    try bench.configure("serve: { \(wrong) }")
                    let result = try await bench.runBare(arguments, environment: bench.configured)
                    #expect(result.exitCode == 78, "\(wrong): \(result.errors)")
                }
            }
        }

        @Test func `a public address is what feeds are told`() async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111", "-q").exitCode == 0)
                // The port stands in the public address, so that the test finds it: whatever was free a moment ago.
                let port = try await bench.serve { $0.port }
                let arguments = [
                    "serve", "--listen", "127.0.0.1:\(port)", "--public-url", "https://books.example/shelf/",
                    "--library", "L",
                ]
                // Who announces a proxy lets others in.
                let open = try await bench.runBare(arguments)
                #expect(open.exitCode == 64 && open.errors.contains("booksync serve --set-password"), "\(open.errors)")
                let guarded = ["BOOKSYNC_SERVE_TOKEN": ServedShelf.token]
                let fields = ["Authorization: Bearer \(ServedShelf.token)"]
                try await withProduct(arguments, environment: guarded, in: bench.folder) { product in
                    let line = try await product.waitForOutput(containing: "https")
                    #expect(line == "https://books.example/shelf/")
                    let shelf = ServedShelf(product: product, address: line, port: port)
                    for host in ["books.example", "127.0.0.1"] {
                        let feed = try await shelf.send("/feeds/demo/40111.xml", fields, host: host)
                        #expect(feed.text.contains("url=\"https://books.example/shelf/media/demo/40111/"))
                        #expect(!feed.text.contains("127.0.0.1"))
                    }
                    let other = try await shelf.send("/feeds/demo/40111.xml", fields, host: "other.example")
                    #expect(other.status == 421)
                }
            }
        }
    }
}
