import Foundation
import Support
import Testing

extension ProductTests {
    /// Addresses with a user, a password or a token in them: where these go, and that they are nowhere else.
    @Suite struct AddressSecrets {
        private static let password = "PASSWORD-9b2e"
        private static let basic = "Basic " + Data("me:\(password)".utf8).base64EncodedString()
        private static let audio = sampleMP3(bytes: 20_000, seed: 4)

        private static func feed(_ audio: String) -> Reply {
            .text(
                """
                <rss version="2.0"><channel><title>T</title><item><title>One</title><guid>one</guid>
                <enclosure url="\(audio)" length="20000" type="audio/mpeg"/></item></channel></rss>
                """, type: "application/rss+xml")
        }

        /// A feed at `/feed.xml` and its audio at `/1.mp3`.
        private static func script(isLetIn: @escaping @Sendable (ServerRequest) -> Bool = { _ in true }) -> ServerScript
        {
            ServerScript { request in
                guard isLetIn(request) else { return .text("", status: 401) }
                if request.path == "/feed.xml" { return feed("http://\(request.header("Host") ?? "")/1.mp3") }
                return request.path == "/1.mp3" ? ServerScript.file(audio).answer(request) : .notFound
            }
        }

        private static func withUser(_ server: MisbehavingServer, _ path: String = "/feed.xml") -> String {
            server.url(path).replacing("http://", with: "http://me:\(password)@")
        }

        @Test
        func `case 23: what is meant for a source's server does not go to other feeds of the source`()
            async throws
        {
            try await withWorkbench { bench in
                try await withServer(Self.script()) { own in
                    try await withServer(Self.script()) { other in
                        try bench.configure(
                            """
                            sources:
                              premium:
                                type: feed
                                url: \(own.url("/feed.xml"))
                                headers: { X-Token: \(Self.password) }
                                allow-private-addresses: true
                            """)
                        let run = try await bench.run(
                            "fetch", own.url("/feed.xml"), other.url("/feed.xml"), environment: bench.configured)
                        #expect(run.exitCode == 0, "\(run.errors)")
                        let asked = own.requests(path: "/feed.xml").last
                        #expect(asked?.header("X-Token") == Self.password)
                        #expect(!other.record.requests.isEmpty)
                        for request in other.record.requests { #expect(request.header("X-Token") == nil) }
                    }
                }
            }
        }

        @Test
        func `case 23: a user in an address goes to its server alone, with all that is asked there`()
            async throws
        {
            let script = Self.script { $0.header("Authorization") == Self.basic }
            try await withWorkbench { bench in
                try await withServer(script) { server in
                    let run = try await bench.run("fetch", Self.withUser(server), "-v")
                    #expect(run.exitCode == 0, "\(run.errors)")
                    #expect(try bench.digests() == [sha256(Self.audio)])
                    #expect(!(run.output + run.errors).contains(Self.password))
                }
                let detail = ServerScript.always(.notFound)
                try await withServer(detail) { other in
                    try await withServer(ScriptedCatalog(episodes: 1).script) { own in
                        let url = Self.withUser(own, ScriptedCatalog.listPath)
                        try bench.configure(
                            """
                            sources:
                              cat: { type: book-resource, url: "\(url)", detail-url: "\(other.url("/detail"))" }
                            """)
                        _ = try await bench.run("fetch", "cat:1", environment: bench.configured)
                        #expect(own.record.requests.first?.header("Authorization") == Self.basic)
                        #expect(!other.record.requests.isEmpty)
                        for request in other.record.requests { #expect(request.header("Authorization") == nil) }
                    }
                }
            }
        }

        @Test
        func `a feed with a secret in its address is subscribed to, and the secret is in a file of its own alone`()
            async throws
        {
            let script = Self.script {
                $0.path == "/1.mp3" || $0.header("Authorization") == Self.basic || $0.query["auth"] == Self.password
            }
            try await withServer(script) { server in
                for address in [Self.withUser(server), server.url("/feed.xml?auth=\(Self.password)&show=7")] {
                    try await withWorkbench { try await subscribe(to: address, in: $0) }
                }
            }
        }

        private func subscribe(to address: String, in bench: Workbench) async throws {
            for arguments in [
                ["subscribe", address], ["subscriptions", "--json"], ["mirror", "-vv", "--json"], ["mirror", "-q"],
                ["list", "--json"], ["runs", "--json"], ["doctor"], ["subscriptions", "--export", "-"],
                ["fetch", address, "--json"],
            ] {
                let run = try await bench.runBare(arguments + ["--library", "L"])
                #expect(run.exitCode == 0, "\(arguments): \(run.errors)")
                #expect(!(run.output + run.errors).contains(Self.password), "\(arguments)")
            }
            #expect(try bench.digests() == [sha256(Self.audio)])
            let own = try bench.files(in: bench.library.appending(path: ".booksync"))
            let holders = try own.filter { try Data(contentsOf: $1).firstRange(of: Data(Self.password.utf8)) != nil }
            let (path, file) = try #require(holders.first)
            #expect(holders.count == 1 && path.hasPrefix("addresses/"))
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            // Without its address a book says what to do.
            try FileManager.default.removeItem(at: file)
            for command in ["mirror", "doctor"] {
                let lost = try await bench.run(command)
                #expect(lost.exitCode == 78, "\(command): \(lost.errors)")
                #expect((lost.output + lost.errors).contains("booksync subscribe ADDRESS records it"), "\(lost.output)")
            }
            #expect(try await bench.run("subscribe", address, "-q").exitCode == 0)
            #expect(try await bench.run("mirror", "-q").exitCode == 0)
        }

        @Test func `a new token in a feed's address downloads nothing again`() async throws {
            var feed = ServedFeed()
            feed.items = [2, 1].map { ServedFeed.Item($0) }
            feed.token = "first-token-0001"
            try await withFeed(feed) { bench, server, feed in
                #expect(
                    try await bench.run("subscribe", server.url("/feed.xml?auth=first-token-0001"), "-q").exitCode == 0)
                #expect(try await bench.run("mirror", "-q").exitCode == 0)
                feed.update { $0.token = "second-token-0002" }
                let refused = try await bench.run("mirror")
                #expect(refused.exitCode == 77 && !refused.errors.contains("-token-"), "\(refused.errors)")
                #expect(refused.errors.contains("booksync subscribe NEWADDRESS"), "\(refused.errors)")
                let again = try await bench.run("subscribe", server.url("/feed.xml?auth=second-token-0002"))
                #expect(again.exitCode == 0 && again.errors.contains("already subscribed"), "\(again.errors)")
                #expect(again.errors.contains("the secret in the address of feed:"), "\(again.errors)")
                #expect(!again.errors.contains("has moved") && !again.errors.contains("-token-"), "\(again.errors)")
                #expect(try await bench.run("mirror", "-q").exitCode == 0)
                feed.update { $0.token = "third-token-0003" }
                let fetched = try await bench.run("fetch", server.url("/feed.xml?auth=third-token-0003"))
                #expect(fetched.exitCode == 0 && !fetched.errors.contains("has moved"), "\(fetched.errors)")
                #expect(fetched.errors.contains("the secret in the address of feed:"), "\(fetched.errors)")
                #expect(try await bench.run("mirror", "-q").exitCode == 0)
                #expect(try await !bench.run("subscriptions").output.contains("moved to"))
                #expect(server.audioRequests.count == 2)
                #expect(try bench.files().count == 2)
            }
        }

        @Test func `a source before an address with a secret makes no name of a book of it`() async throws {
            try await withWorkbench { bench in
                try await withServer(Self.script()) { server in
                    for address in [Self.withUser(server), server.url("/feed.xml?token=\(Self.password)")] {
                        for command in ["fetch", "subscribe", "plan", "list", "pause", "show"] {
                            let run = try await bench.run(command, "feed:\(address)")
                            #expect(run.exitCode == 64, "\(command): \(run.errors)")
                            #expect(!(run.output + run.errors).contains(Self.password))
                        }
                        let explained = try await bench.run("explain", address)
                        #expect(explained.exitCode == 64 && !explained.errors.contains(Self.password))
                        try bench.configure("subscriptions: [{ book: \"feed:\(address)\" }]")
                        for arguments in [["config", "show"], ["config", "check", "--json"], ["mirror"]] {
                            let run = try await bench.runBare(arguments, environment: bench.configured)
                            #expect(run.exitCode == 78)
                            #expect(!(run.output + run.errors).contains(Self.password))
                        }
                    }
                    #expect(server.record.requests.isEmpty)
                }
            }
        }

        @Test func `doctor finds nothing wrong with an address that the configuration has whole`() async throws {
            try await withWorkbench { bench in
                try await withServer(Self.script { $0.header("Authorization") == Self.basic }) { server in
                    try bench.configure("subscriptions: [{ book: \"\(Self.withUser(server))\" }]")
                    #expect(try await bench.run("mirror", environment: bench.configured).exitCode == 0)
                    let doctor = try await bench.run("doctor", environment: bench.configured)
                    #expect(doctor.exitCode == 0, "\(doctor.output)")
                    #expect(doctor.output.contains("ok       subscriptions: 1, and their sources are configured"))
                    #expect(!doctor.output.contains(Self.password))
                }
            }
        }

        @Test func `a list of feeds brings no name with a secret in it`() async throws {
            try await withWorkbench { bench in
                let list = """
                    <opml version="2.0" xmlns:b="urn:booksync:opml"><body>
                    <outline text="own" b:book="feed:http://me:\(Self.password)@127.0.0.1:1/feed.xml"/>
                    </body></opml>
                    """
                try Data(list.utf8).write(to: bench.folder.appending(path: "list.opml"))
                let run = try await bench.run("subscriptions", "--import", "list.opml", "--json")
                #expect(try JSONObject(run.output).number("refused") == 1)
                #expect(!(run.output + run.errors).contains(Self.password))
                #expect(try await bench.run("subscriptions", "--json").output == "[]\n")
            }
        }

        @Test func `a subscribed address with a secret is unreachable, and not unknown, while its server is down`()
            async throws
        {
            try await withWorkbenchAndRefusingPort { bench, port in
                try bench.configure(
                    """
                    subscriptions: [{ book: "http://me:\(Self.password)@127.0.0.1:\(port)/feed.xml" }]
                    downloads: { retries: 0 }
                    """)
                let check = try await bench.runBare(["config", "check"], environment: bench.configured)
                #expect(check.errors.contains("it holds secrets (subscriptions[0].book in line 1)"), "\(check.errors)")
                let run = try await bench.run("mirror", environment: bench.configured)
                #expect(run.exitCode == 69, "\(run.errors)")
                #expect(!run.errors.contains(Self.password))
            }
        }

        @Test func `no address of a catalog that cannot be read shows its secrets`() async throws {
            try await withWorkbenchAndRefusingPort { bench, port in
                let address = "//me:hidden@127.0.0.1:\(port)/feed.xml?token=hidden"
                for subject in ["http:\(address)", "demo:http:\(address)"] {
                    for more in [[], ["40111"]] {
                        for option in ["--json", "-v"] {
                            let result = try await bench.runBare(["catalog", subject, option] + more)
                            #expect(!result.output.contains("hidden"), "\(subject): \(result.output)")
                            #expect(!result.errors.contains("hidden"), "\(subject): \(result.errors)")
                        }
                    }
                }
            }
        }
    }
}
