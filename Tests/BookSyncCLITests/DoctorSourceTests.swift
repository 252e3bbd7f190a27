import Foundation
import Support
import Testing

extension ProductTests {
    /// What `doctor` says of sources, subscriptions and the configuration.
    @Suite struct DoctorSources {
        private static let subscribed = "subscriptions: [{ book: \"cat:1\" }]"

        private static func line(_ check: String, of result: ProductRunner.Result) throws -> String {
            try #require(result.outputLines.first { $0.contains(" \(check): ") }, "\(result.output)")
        }

        @Test(
            arguments: [
                (Reply.text("{}", status: 401), 77, "credentials"), (.text("busy", status: 503), 69, "503"),
                (.text("<html>Login</html>"), 65, "HTML"), (.closeBeforeAnswer, 69, "try again"),
                (.text("{\"status\":4,\"msg\":\"非法请求\"}"), 69, "非法请求"),
            ] as [(Reply, Int32, String)])
        func `a source that answers badly is a problem with its own code`(
            reply: Reply, code: Int32, word: String
        ) async throws {
            try await withCatalog(.always(reply), more: Self.subscribed) { bench, server in
                let result = try await bench.run("doctor", environment: bench.configured)
                let line = try Self.line("source cat", of: result)
                #expect(result.exitCode == code, "\(line)")
                #expect(line.hasPrefix("problem ") && line.contains(word), "\(line)")
                #expect(server.record.requests.count <= 2)
            }
        }

        @Test(arguments: [(200, 0, "ok"), (401, 77, "problem")] as [(Int, Int32, String)])
        func `the token of an Audiobookshelf server is tried where every user is answered`(
            status: Int, code: Int32, verdict: String
        ) async throws {
            try await withServer(.paths(["/abs/api/libraries": .always(.text("{}", status: status))])) { server in
                try await withWorkbench { bench in
                    try bench.configure(
                        "sources: { friend: { type: audiobookshelf, url: \"\(server.url("/abs/"))\", bearer: TOKEN-1 } }"
                    )
                    let result = try await bench.run("doctor", environment: bench.configured)
                    #expect(result.exitCode == code, "\(result.output)")
                    #expect(try Self.line("source friend", of: result).hasPrefix(verdict), "\(result.output)")
                    #expect(server.record.requests.map { $0.header("Authorization") } == ["Bearer TOKEN-1"])
                }
            }
        }

        @Test func `a dead server and a silent one are said, and hold up nothing`() async throws {
            try await withServer(.always(.neverAnswer)) { silent in
                try await withWorkbenchAndRefusingPort { bench, port in
                    try bench.configure(
                        """
                        downloads: { stall-timeout: 1s }
                        sources:
                          dead: { type: book-resource, url: "http://127.0.0.1:\(port)/l" }
                          silent: { type: directory, url: "\(silent.url("/d/"))" }
                          quiet: { type: feed, url: "\(silent.url("/f.xml"))" }
                        """)
                    let result = try await bench.run("doctor", environment: bench.configured)
                    #expect(result.exitCode == 69, "\(result.output)")
                    for name in ["dead", "silent", "quiet"] {
                        #expect(try Self.line("source \(name)", of: result).hasPrefix("problem "), "\(result.output)")
                    }
                }
            }
        }

        @Test func `a missing variable is a problem of the configuration, and asks nobody`() async throws {
            try await withServer(.always(.notFound)) { server in
                try await withWorkbench { bench in
                    try bench.configure(
                        """
                        sources:
                          cat: { type: book-resource, url: "\(server.url("/l"))", query: { token: "${CAT_TOKEN}" } }
                        """)
                    let result = try await bench.run("doctor", environment: bench.configured)
                    #expect(result.exitCode == 78)
                    #expect(try Self.line("source cat", of: result).contains("set CAT_TOKEN"), "\(result.output)")
                    #expect(server.record.requests.isEmpty)
                    let set = try await bench.run(
                        "doctor", environment: bench.configured.merging(["CAT_TOKEN": "t"]) { $1 })
                    #expect(try Self.line("source cat", of: set).hasPrefix("warning "), "\(set.output)")
                    #expect(server.record.requests.map(\.method) == ["HEAD"], "there is no book to test it with")
                }
            }
        }

        @Test(arguments: [
            (200, "ok ", 0), (501, "ok ", 0), (404, "warning ", 0), (403, "warning ", 0), (401, "problem ", 77),
            (503, "problem ", 69), (429, "problem ", 69),
        ])
        func `a source of which no book is known is judged by its answer's status`(
            status: Int, word: String, code: Int32
        ) async throws {
            try await withServer(.always(.text("", status: status))) { server in
                try await withWorkbench { bench in
                    try bench.configure("sources: { dir: { type: directory, url: \"\(server.url("/d/"))\" } }\n")
                    let result = try await bench.run("doctor", environment: bench.configured)
                    let line = try Self.line("source dir", of: result)
                    #expect(line.hasPrefix(word) && line.contains("\(status)"), "\(line)")
                    #expect(result.exitCode == code)
                }
            }
        }

        @Test func `feeds of several servers are each asked, and a subscribed book that is gone is a problem`()
            async throws
        {
            let feed = Reply.text("<rss><channel><title>T</title></channel></rss>")
            try await withServer(.always(feed)) { well in
                try await withServer(.always(.notFound)) { gone in
                    try await withWorkbench { bench in
                        try bench.configure(
                            "subscriptions: [{ book: \"\(well.url("/a.xml"))\" }, { book: \"\(gone.url("/b.xml"))\" }]")
                        let result = try await bench.run("doctor", environment: bench.configured)
                        let lines = result.outputLines.filter { $0.contains(" source feed: ") }
                        #expect(lines.count == 2, "\(result.output)")
                        #expect(lines.contains { $0.hasPrefix("problem ") && $0.contains("404") }, "\(lines)")
                        #expect(result.exitCode == 66)
                    }
                }
            }
        }

        @Test func `a directory whose audio lies in folders is no warning`() async throws {
            let pages = [
                "/d/m/": "<a href=\"one/\">one</a>", "/d/m/one/": "<a href=\"1.mp3\">1.mp3</a>",
            ]
            let script = ServerScript { request in
                pages[request.path].map { .text($0, type: "text/html") } ?? .notFound
            }
            try await withServer(script) { server in
                try await withWorkbench { bench in
                    try bench.configure(
                        """
                        sources: { dir: { type: directory, url: "\(server.url("/d/"))", depth: 2 } }
                        subscriptions: [{ book: "dir:m" }]
                        """)
                    let result = try await bench.run("doctor", environment: bench.configured)
                    let line = try Self.line("source dir", of: result)
                    #expect(line.hasPrefix("ok "), "\(line)")
                }
            }
        }

        @Test func `a clock that is wrong by more than minutes is a warning`() async throws {
            let catalog = ScriptedCatalog(episodes: 1)
            let script = ServerScript { request in
                var reply = catalog.script.answer(request)
                reply.setHeader("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
                return reply
            }
            try await withCatalog(script, more: Self.subscribed) { bench, _ in
                let result = try await bench.run("doctor", environment: bench.configured)
                #expect(result.exitCode == 0)
                let line = try Self.line("source cat", of: result)
                #expect(line.hasPrefix("warning ") && line.contains("behind this machine's"), "\(line)")
            }
        }

        @Test func `a subscription whose source is gone is a problem`() async throws {
            try await withCatalog(ScriptedCatalog(episodes: 1).script) { bench, _ in
                #expect(try await bench.run("subscribe", "cat:1", environment: bench.configured).exitCode == 0)
                try bench.configure("sources: { other: { type: feed } }\n")
                let result = try await bench.run("doctor", environment: bench.configured)
                #expect(result.exitCode == 78)
                let line = try Self.line("subscriptions", of: result)
                #expect(line.contains("no source is called 'cat'") && line.contains("unsubscribe cat:1"), "\(line)")
            }
        }

        @Test func `a configuration that cannot be read is the one problem`() async throws {
            try await withWorkbench { bench in
                try bench.configure("downloads: { job: 4 }\n")
                let result = try await bench.run("doctor", environment: bench.configured)
                #expect(result.exitCode == 78)
                #expect(result.outputLines.count == 1)
                #expect(result.output.hasPrefix("problem  configuration: ") && result.output.contains("did you mean"))
            }
        }

        @Test func `a secret in a file that others may read is a warning, and is not shown`() async throws {
            try await withWorkbench { bench in
                try bench.configure(
                    """
                    sources:
                      miss: { type: feed, url: "http://user:hunter2@127.0.0.1:9/{id}" }
                      cat:
                        type: book-resource
                        url: http://127.0.0.1:9/
                        query: { nwt: 1, token: hunter2, imei: "${IMEI}" }
                    """)
                let files = FileManager.default
                for (mode, isReported) in [(0o644, true), (0o600, false)] {
                    try files.setAttributes([.posixPermissions: mode], ofItemAtPath: bench.configuration.path)
                    let result = try await bench.run("doctor", environment: bench.configured)
                    let line = try Self.line("configuration", of: result)
                    #expect(line.hasPrefix(isReported ? "warning " : "ok "), "\(line)")
                    #expect(
                        line.contains("in line 2, ") == isReported && line.contains("chmod 600") == isReported,
                        "\(line)")
                    #expect(!(result.output + result.errors).contains("hunter2"))
                }
            }
        }
    }
}
