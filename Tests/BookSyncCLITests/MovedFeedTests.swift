import Foundation
import Support
import Testing

extension ProductTests {
    /// A feed that is at another address by now: its server says so, the feed itself, the user, or only its episodes.
    @Suite struct MovedFeeds {
        private static var feed: ServedFeed {
            var feed = ServedFeed()
            feed.items = [3, 2, 1].map { ServedFeed.Item($0) }
            return feed
        }

        /// Subscribes to the feed and downloads it.
        private func begin(
            _ bench: Workbench, _ server: MisbehavingServer, _ path: String = "/feed.xml", title: String? = nil
        ) async throws {
            let title = title.map { ["--title", $0] } ?? []
            let begun = try await bench.runBare(["subscribe", server.url(path), "-q", "--library", "L"] + title)
            #expect(begun.exitCode == 0, "\(begun.errors)")
            #expect(try await bench.run("mirror", "-q").exitCode == 0)
            #expect(try bench.files().count == 3)
        }

        /// Everything is there once, and was asked for once.
        private func expectOnce(_ count: Int, _ bench: Workbench, _ server: MisbehavingServer) throws {
            #expect(Set(try bench.digests()) == Set((1...count).map { sha256(ServedFeed.audio($0)) }))
            #expect(try bench.files().count == count)
            #expect(server.audioRequests.count == count, "\(server.audioRequests)")
        }

        @Test(arguments: [301, 308])
        func `a permanent redirect is recorded, and followed when the old address is gone`(status: Int) async throws {
            try await withFeed(Self.feed) { bench, server, feed in
                try await begin(bench, server)
                feed.update {
                    $0.path = "/new.xml"
                    $0.redirects["/feed.xml"] = (status, "/new.xml")
                }
                let moved = try await bench.run("mirror")
                #expect(moved.exitCode == 0)
                #expect(
                    moved.errors.contains("has moved to \(server.url("/new.xml")), where it is asked for from now on"))
                feed.update {
                    $0.redirects = [:]
                    $0.items.insert(ServedFeed.Item(4), at: 0)
                }
                let asked = server.record.requests.count
                let next = try await bench.run("mirror", "--json")
                #expect(next.exitCode == 0, "\(next.errors)")
                #expect(try next.summary().number("fetched") == 1)
                #expect(!next.errors.contains("has moved"), "told once")
                #expect(server.record.requests.dropFirst(asked).allSatisfy { $0.path != "/feed.xml" })
                // It is one book under either address.
                let byNew = try await bench.run("fetch", server.url("/new.xml"), "--json")
                #expect(try byNew.summary().number("kept") == 4)
                #expect(try JSONObject.list(try await bench.run("list", "--json").output).count == 1)
                let outline = try await bench.run("subscriptions", "--export", "-")
                #expect(outline.output.contains("xmlUrl=\"\(server.url("/new.xml"))\""), "\(outline.output)")
                try expectOnce(4, bench, server)
            }
        }

        @Test(arguments: [302, 307])
        func `a feed behind a temporary redirect is the book of the address that was typed`(status: Int) async throws {
            try await withFeed(Self.feed) { bench, server, feed in
                for path in ["/one.xml", "/two.xml"] {
                    feed.update {
                        $0.path = path
                        $0.redirects["/feed.xml"] = (status, path)
                    }
                    if path == "/one.xml" { try await begin(bench, server) }
                    #expect(try await bench.run("mirror", "-q").exitCode == 0)
                    #expect(try await bench.run("fetch", server.url("/feed.xml"), "-q").exitCode == 0)
                    try expectOnce(3, bench, server)
                }
                let listed = try await bench.run("list", "feed:\(server.url("/feed.xml"))", "--json")
                #expect(try JSONObject.list(listed.output).count == 3, "\(listed.errors)")
            }
        }

        @Test func `a temporary redirect, or one to something else, is not recorded`() async throws {
            try await withFeed(Self.feed) { bench, server, feed in
                try await begin(bench, server)
                for (status, target) in [(302, "/new.xml"), (307, "/new.xml"), (301, "/nowhere.xml")] {
                    feed.update {
                        $0.path = "/new.xml"
                        $0.redirects["/feed.xml"] = (status, target)
                    }
                    #expect(try await bench.run("mirror", "-q").exitCode == (target == "/new.xml" ? 0 : 66))
                }
                // A page that stands in for the feed, with none of its episodes.
                feed.update {
                    $0.redirects["/feed.xml"] = (301, "/new.xml")
                    $0.items = []
                }
                #expect(try await bench.run("mirror", "-q").exitCode == 75)
                feed.update { $0 = Self.feed }
                let asked = server.record.requests.count
                #expect(try await bench.run("mirror", "-q").exitCode == 0)
                #expect(server.record.requests.dropFirst(asked).map(\.path) == ["/feed.xml"])
                try expectOnce(3, bench, server)
            }
        }

        @Test(arguments: [false, true])
        func `somebody else's feed that the address leads to is not taken over, and told of each night`(
            onSameDays: Bool
        ) async throws {
            try await withFeed(Self.feed) { bench, server, feed in
                try await begin(bench, server)
                feed.update {
                    $0.path = "/spam.xml"
                    $0.redirects["/feed.xml"] = (301, "/spam.xml")
                    $0.items = [23, 22, 21].map { ServedFeed.Item($0) }
                    guard onSameDays else { return }
                    // Their figures are the same, too.
                    $0.title = "Market reports"
                    for (index, own) in Self.feed.items.enumerated() {
                        $0.items[index].date = own.date
                        $0.items[index].title = "Report \(own.id)"
                    }
                }
                for _ in 0..<2 {
                    let run = try await bench.run("mirror", "-q")
                    #expect(run.exitCode == 65 && run.errors.contains("lists none of its episodes"), "\(run.errors)")
                }
                feed.update {
                    $0 = Self.feed
                    $0.items.insert(ServedFeed.Item(4), at: 0)
                }
                #expect(try await bench.run("mirror", "-q").exitCode == 0)
                try expectOnce(4, bench, server)
            }
        }

        @Test func `under a title of the user's a feed may change its guids, titles and addresses at once`()
            async throws
        {
            try await withFeed(Self.feed) { bench, server, feed in
                try await begin(bench, server, title: "Mine")
                feed.update {
                    for (index, item) in $0.items.enumerated() {
                        $0.items[index].guid = "urn:new:\(item.id)"
                        $0.items[index].title = "No. \(item.id): again"
                        $0.items[index].path = "/new/\(item.id).mp3"
                    }
                }
                for _ in 1...2 { #expect(try await bench.run("mirror", "-q").exitCode == 0) }
                try expectOnce(3, bench, server)
            }
        }

        @Test func `only the permanent beginning of several redirects is recorded`() async throws {
            try await withFeed(Self.feed) { bench, server, feed in
                try await begin(bench, server)
                feed.update {
                    $0.path = "/cache.xml"
                    $0.redirects = ["/feed.xml": (301, "/new.xml"), "/new.xml": (302, "/cache.xml")]
                }
                #expect(try await bench.run("mirror").errors.contains("has moved to \(server.url("/new.xml")),"))
                try expectOnce(3, bench, server)
            }
        }

        @Test func `the feed's own word that it has moved is followed where its episodes are there`() async throws {
            try await withFeed(Self.feed) { bench, server, feed in
                try await begin(bench, server)
                let script = ServerScript { request in
                    var next = feed.value
                    next.path = "/new.xml"
                    next.head =
                        "<itunes:new-feed-url>http://\(request.header("Host") ?? "")/new.xml</itunes:new-feed-url>"
                    next.items.insert(ServedFeed.Item(4), at: 0)
                    if request.path == "/show.xml" {
                        next.path = "/show.xml"
                        next.items = [ServedFeed.Item(21)]
                    }
                    return next.answer(request)
                }
                try await withServer(script) { second in
                    // Another show's, one that is not there, and the right one.
                    for (path, count) in [("/show.xml", 3), ("/nowhere.xml", 3), ("/new.xml", 4)] {
                        feed.update {
                            $0.head = "<itunes:new-feed-url> \(second.url(path)) </itunes:new-feed-url>"
                        }
                        let run = try await bench.run("mirror", "--json")
                        #expect(run.exitCode == 0, "\(run.errors)")
                        #expect(run.errors.contains("has moved to") == (count == 4))
                        #expect(try bench.files().count == count)
                    }
                    feed.update { $0.path = "/gone.xml" }
                    #expect(try await bench.run("mirror", "-q").exitCode == 0)
                    #expect(server.audioRequests.count + second.audioRequests.count == 4)
                }
            }
        }

        @Test func `the user says where a feed is by now`() async throws {
            try await withFeed(Self.feed) { bench, server, feed in
                try await begin(bench, server)
                feed.update {
                    $0.path = "/new.xml"
                    $0.items.insert(ServedFeed.Item(4), at: 0)
                }
                let (old, new) = (server.url("/feed.xml"), server.url("/new.xml"))
                let gone = try await bench.run("mirror", "-q")
                #expect(gone.exitCode == 66)
                #expect(
                    gone.errors.contains("booksync subscriptions --moved 'feed:\(old)' NEWADDRESS"), "\(gone.errors)")
                #expect(try await !bench.run("subscriptions").output.contains("moved to"))
                let moved = try await bench.run("subscriptions", "--moved", old, new, "--json")
                #expect(moved.exitCode == 0, "\(moved.errors)")
                #expect(try JSONObject(moved.output)["event"] == "feed_moved")
                #expect(try JSONObject(moved.output)["address"] == new)
                #expect(try await bench.run("mirror", "-q").exitCode == 0)
                try expectOnce(4, bench, server)
                let table = try await bench.run("subscriptions").output
                #expect(table.contains("moved to") && table.contains(new), "\(table)")
                let listed = try JSONObject.list(try await bench.run("subscriptions", "--json").output)
                #expect(listed.map { $0["moved_to"] } == [new])
                // And takes it back.
                feed.update { $0.path = "/feed.xml" }
                #expect(try await bench.run("subscriptions", "--moved", new, old, "-q").exitCode == 0)
                #expect(try await bench.run("mirror", "-q").exitCode == 0)
                try expectOnce(4, bench, server)
                for wrong in [["--moved", old], ["--moved", old, "nonsense"], ["--moved", "demo:40111", new]] {
                    let result = try await bench.runBare(["subscriptions", "--library", "L"] + wrong)
                    #expect(result.exitCode == 64, "\(wrong): \(result.errors)")
                }
                #expect(try await bench.run("subscriptions", "--moved", server.url("/unknown.xml"), new).exitCode == 66)
            }
        }

        @Test func `an address that is not the feed's, or cannot be asked, is refused, and nothing changes`()
            async throws
        {
            try await withWorkbenchAndRefusingPort { bench, port in
                try bench.configure("downloads: { retries: 0 }")
                let script = ServerScript { request in
                    var feed = Self.feed
                    if request.path == "/show.xml" {
                        feed.path = "/show.xml"
                        feed.items = [ServedFeed.Item(21)]
                    }
                    if request.path == "/folder/" { return .text("<html><a href=\"1.mp3\">1.mp3</a></html>") }
                    return feed.answer(request)
                }
                try await withServer(script) { server in
                    try await begin(bench, server)
                    let old = server.url("/feed.xml")
                    for (address, code, why) in [
                        (server.url("/folder/"), Int32(65), "the feed of \(server.url("/folder/")) cannot be read"),
                        (server.url("/show.xml"), 65, "none of its episodes is listed there"),
                        (server.url("/nowhere.xml"), 66, "no book is at \(server.url("/nowhere.xml"))"),
                        ("http://127.0.0.1:\(port)/feed.xml", 69, "the server refuses the connection"),
                    ] {
                        let refused = try await bench.run(
                            "subscriptions", "--moved", old, address, environment: bench.configured)
                        #expect(refused.exitCode == code, "\(address): \(refused.errors)")
                        #expect(refused.errors.contains(why), "\(refused.errors)")
                    }
                    let asked = server.record.requests.count
                    #expect(try await bench.run("mirror", "-q").exitCode == 0)
                    #expect(server.record.requests.dropFirst(asked).map(\.path) == ["/feed.xml"])
                    try expectOnce(3, bench, server)
                }
            }
        }

        @Test func `an error about a feed that has moved names the address that was asked`() async throws {
            try await withFeed(Self.feed) { bench, server, feed in
                try await begin(bench, server)
                feed.update {
                    $0.path = "/new.xml"
                    $0.redirects["/feed.xml"] = (301, "/new.xml")
                }
                #expect(try await bench.run("mirror", "-q").exitCode == 0)
                feed.update { $0.path = "/newest.xml" }
                let gone = try await bench.run("mirror", "-q")
                #expect(gone.exitCode == 66)
                #expect(gone.errors.contains("no book is at \(server.url("/new.xml"))"), "\(gone.errors)")
                feed.update {
                    $0.path = "/new.xml"
                    $0.token = "none"
                }
                let refused = try await bench.run("mirror", "-q")
                #expect(refused.errors.contains("the feed of \(server.url("/new.xml"))"), "\(refused.errors)")
            }
        }

        @Test func `the same episodes at another address are the same book`() async throws {
            var begun = Self.feed
            // Whatever the server says of lengths, and wherever the files are.
            begun.items[0].length = nil
            try await withFeed(begun) { bench, server, feed in
                try await begin(bench, server)
                feed.update { feed in
                    feed.path = "/new.xml"
                    for index in feed.items.indices {
                        feed.items[index].path = "/elsewhere/\(feed.items[index].id).mp3"
                    }
                    feed.items.insert(ServedFeed.Item(4), at: 0)
                }
                let again = try await bench.run("subscribe", server.url("/new.xml"))
                #expect(again.exitCode == 0 && again.errors.contains("already subscribed"), "\(again.errors)")
                let run = try await bench.run("mirror", "--json")
                #expect(run.exitCode == 0, "\(run.errors)")
                #expect(try run.summary().number("fetched") == 1)
                #expect(try run.summary().number("kept") == 3)
                try expectOnce(4, bench, server)
            }
        }

        /// The book's own feed goes on, and another one, of some of its items, is named in a command.
        private func expectOwnFeed(
            keepsItsBookAfter command: String, of other: @escaping @Sendable (inout ServedFeed) -> Void, books: Int
        ) async throws {
            let own = Watched(Self.feed)
            let script = ServerScript { request in
                guard request.path == "/other.xml" else { return own.value.answer(request) }
                var feed = own.value
                (feed.path, feed.items) = ("/other.xml", Array(feed.items.suffix(2)))
                other(&feed)
                return feed.answer(request)
            }
            try await withWorkbench { bench in
                try await withServer(script) { server in
                    try await begin(bench, server)
                    let named = try await bench.run(command, server.url("/other.xml"))
                    #expect(named.exitCode == 0 && !named.errors.contains("has moved"), "\(named.errors)")
                    #expect(books == 1 || !named.errors.contains("already"), "\(named.errors)")
                    own.update { $0.items.insert(ServedFeed.Item(4), at: 0) }
                    let run = try await bench.run("mirror")
                    #expect(run.exitCode == 0 && !run.errors.contains("has moved"), "\(run.errors)")
                    #expect(Set(try bench.digests()) == Set((1...4).map { sha256(ServedFeed.audio($0)) }))
                    #expect(try JSONObject.list(try await bench.run("list", "--json").output).count == books)
                }
            }
        }

        @Test(arguments: ["subscribe", "fetch"], [nil, "The best of it"])
        func `another feed that shares episodes takes no book away from its own feed`(
            command: String, title: String?
        ) async throws {
            // The same guids and files. Under the same name it is the same book, by an address that lists less.
            try await expectOwnFeed(
                keepsItsBookAfter: command, of: { $0.title = title ?? $0.title }, books: title == nil ? 1 : 2)
        }

        @Test(arguments: ["subscribe", "fetch"])
        func `another show that plays some of the same files is another book`(command: String) async throws {
            try await expectOwnFeed(
                keepsItsBookAfter: command,
                of: { news in
                    news.title = "News"
                    for index in news.items.indices {
                        news.items[index].guid = "urn:news:\(index)"
                        news.items[index].title = "News \(index)"
                    }
                }, books: 2)
        }

        @Test func `another show with the same short guids is another book`() async throws {
            var first = Self.feed
            for index in first.items.indices { first.items[index].guid = "\(first.items[index].id)" }
            try await withFeed(first) { bench, server, feed in
                try await begin(bench, server)
                feed.update { feed in
                    feed.path = "/other.xml"
                    feed.items = [13, 12, 11].map { id in
                        var item = ServedFeed.Item(id)
                        item.guid = "\(id - 10)"
                        return item
                    }
                }
                #expect(try await bench.run("fetch", server.url("/other.xml"), "-q").exitCode == 0)
                #expect(try bench.files().count == 6)
                #expect(try JSONObject.list(try await bench.run("list", "--json").output).count == 2)
            }
        }
    }
}

/// Runs a workbench beside a server of the feed.
func withFeed<Answer>(
    _ feed: ServedFeed, isolation: isolated (any Actor)? = #isolation,
    _ body: (Workbench, MisbehavingServer, Watched<ServedFeed>) async throws -> Answer
) async throws -> Answer {
    let watched = Watched(feed)
    return try await withWorkbench { bench in
        try await withServer(ServerScript { watched.value.answer($0) }) { try await body(bench, $0, watched) }
    }
}

extension MisbehavingServer {
    /// The audio that was asked for so far, by path.
    var audioRequests: [String] { record.requests.map(\.path).filter { $0.hasSuffix(".mp3") } }
}
