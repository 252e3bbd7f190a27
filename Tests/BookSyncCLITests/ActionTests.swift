import BookSync
import Foundation
import Support
import Testing

extension ProductTests {
    /// What clients of a served shelf have done.
    @Suite struct Actions {
        private static let json = "Content-Type: application/json"

        private func id(_ section: Int) -> String { "500000000\(section)" }

        private func post(
            _ shelf: ServedShelf, _ name: String, _ json: String, _ fields: [String] = []
        ) async throws -> ServedShelf.Answer {
            try await shelf.send(
                "/api/v1/\(name)", method: "POST",
                [Self.json, "Content-Length: \(json.utf8.count)"] + fields, body: json)
        }

        private func state(of section: Int, _ shelf: ServedShelf) async throws -> String? {
            try JSONObject(try await shelf.send("/api/v1/books/demo/40111/episodes/\(section)").text)["state"]
        }

        @Test func `a book is fetched, paused, resumed and removed by the row`() async throws {
            try await withWorkbench { bench in
                try await bench.serveHeld(allowing: 60_000) { shelf, demo in
                    let stream = try EventStream(shelf)
                    defer { stream.close() }
                    try await stream.begun()
                    let asked = try await post(shelf, "fetch", #"{"refs": ["demo:40111/1"]}"#)
                    #expect(asked.status == 200)
                    #expect(try JSONObject(asked.text).number("count") == 1)
                    try await stream.event(["state": "downloading", "id": id(1)])

                    let row = #"{"episodes": [{"source": "demo", "book_id": "40111", "id": "\#(id(1))"}]}"#
                    #expect(try JSONObject(try await post(shelf, "pause", row).text).number("count") == 1)
                    try await stream.event(["state": "paused", "id": id(1)])
                    try await shelf.product.waitForErrors(containing: "40111 夜航船: 0 fetched")
                    #expect(try await state(of: 1, shelf) == "paused")
                    #expect(try bench.partialFiles.count == 1)

                    demo.tap.open()
                    #expect(try JSONObject(try await post(shelf, "resume", row).text).number("count") == 1)
                    try await stream.event(["state": "finished", "id": id(1)])
                    try await shelf.product.waitForErrors(containing: "1 resumed")

                    #expect(try JSONObject(try await post(shelf, "remove", row).text).number("count") == 1)
                    #expect(try await state(of: 1, shelf) == "removed")
                    #expect(try bench.files().isEmpty)
                }
                let runs = try JSONObject.list(try await bench.run("runs", "--json").output)
                #expect(runs.map { $0["command"] } == ["fetch", "fetch"])
                #expect(runs.map { $0.number("exit_code") } == [0, 0])
            }
        }

        private func status(of action: String, _ body: String, _ shelf: ServedShelf) async throws -> Int {
            try await post(shelf, action, body).status
        }

        @Test func `what was played is offered from its start`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let page = "/books/demo/40111/\(id(1))"
                    let row = "{\"source\": \"demo\", \"book_id\": \"40111\", \"id\": \"\(id(1))\""
                    let begun = try await status(of: "position", "{\"position\": \(row), \"seconds\": 20}}", shelf)
                    #expect(begun == 200)
                    let before = try await shelf.send(page).text
                    #expect(before.contains("Continue listening"))
                    let played = try await status(of: "mark", "{\"episodes\": [\(row)}], \"played\": true}", shelf)
                    #expect(played == 200)
                    let after = try await shelf.send(page).text
                    #expect(!after.contains("Continue listening"))
                }
            }
        }

        @Test func `what is subscribed to is called as its preview was, until its catalog is read`() async throws {
            let isBusy = Watched(false)
            let feed = ServerScript { _ in
                if isBusy.value { return .neverAnswer }
                return .text(
                    """
                    <rss version="2.0"><channel><title>Tides</title><item><title>Low</title><guid>a</guid>\
                    <enclosure url="/1.mp3" type="audio/mpeg"/></item></channel></rss>
                    """)
            }
            try await withServer(feed) { server in
                try await withWorkbench { bench in
                    try bench.configure("sources: { own: { type: feed, url: \"\(server.url("/feed"))\" } }")
                    try await bench.serve(environment: bench.configured) { shelf in
                        let refs = "{\"refs\": [\"own:feed\"]}"
                        let previewed = try await status(of: "preview", refs, shelf)
                        #expect(previewed == 200)
                        isBusy.update { $0 = true }
                        let subscribed = try await status(of: "subscribe", refs, shelf)
                        #expect(subscribed == 200)
                        let page = try await shelf.send("/subscriptions").text
                        #expect(page.contains("Tides"))
                    }
                }
            }
        }

        /// The catalog of two books, where that of the book 7 does not end its answer before the gate opens.
        private func halfSlow(until gate: Gate) -> ServerScript {
            let catalog = ScriptedCatalog(episodes: 2).script
            let listing = Array(#"{"status":0,"sections":0,"list":[]}"#.utf8)
            let slow = ServerScript.file(listing, [.stall(at: 5, until: gate)])
            return ServerScript { request in
                request.query.values.contains("7") ? slow.answer(request) : catalog.answer(request)
            }
        }

        private func slowRequests(to server: MisbehavingServer) -> Int {
            server.record.requests.count { $0.query.values.contains("7") }
        }

        @Test func `a catalog that does not answer keeps nobody from looking at another`() async throws {
            let gate = Gate()
            try await withCatalog(halfSlow(until: gate)) { bench, server in
                try bench.configure(
                    ScriptedCatalog.configuration(
                        port: server.port,
                        more: """
                              near:
                                type: book-resource
                                url: http://localhost:\(server.port)\(ScriptedCatalog.listPath)
                                allow-private-addresses: true
                            """))
                try await bench.serve(environment: bench.configured) { shelf in
                    async let first = post(shelf, "preview", #"{"refs": ["cat:7"]}"#)
                    try await waitUntil("the slow catalog is asked") { slowRequests(to: server) == 1 }
                    #expect(try await status(of: "preview", #"{"refs": ["cat:1"]}"#, shelf) == 200)
                    async let second = post(shelf, "preview", #"{"refs": ["cat:7"]}"#)
                    try await waitUntil("it is asked again") { slowRequests(to: server) == 2 }
                    let third = try await post(shelf, "preview", #"{"refs": ["cat:1"]}"#)
                    #expect(third.status == 503 && third.text.contains("2 previews are waiting for its server"))
                    #expect(try await status(of: "preview", #"{"refs": ["near:1"]}"#, shelf) == 200)
                    gate.open()
                    _ = try await (first, second)
                    #expect(try await status(of: "preview", #"{"refs": ["cat:1"]}"#, shelf) == 200)
                }
            }
        }

        @Test func `what is asked for while a run waits for a catalog is fetched meanwhile`() async throws {
            let gate = Gate()
            try await withCatalog(halfSlow(until: gate)) { bench, server in
                try await bench.serve(environment: bench.configured) { shelf in
                    #expect(try await status(of: "fetch", #"{"refs": ["cat:7"]}"#, shelf) == 200)
                    try await waitUntil("the slow catalog is asked") { slowRequests(to: server) == 1 }
                    #expect(try await status(of: "fetch", #"{"refs": ["cat:1"]}"#, shelf) == 200)
                    try await waitUntil("the other book is there") { try bench.digests().count == 2 }
                    #expect(slowRequests(to: server) == 1)
                    gate.open()
                    try await shelf.product.waitForErrors(containing: "2 fetched")
                }
                let runs = try JSONObject.list(try await bench.run("runs", "--json").output)
                #expect(runs.count == 1)
            }
        }

        @Test func `pressing download on a paused episode resumes it`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    try await bench.dropFiles("40111/1")
                    #expect(try await bench.run("pause", "40111/1").exitCode == 0)
                    #expect(try await status(of: "fetch", #"{"refs": ["demo:40111/1"]}"#, shelf) == 200)
                    try await shelf.product.waitForErrors(containing: "1 fetched")
                    #expect(try await state(of: 1, shelf) == "finished")
                }
            }
        }

        @Test func `what is asked for while a run is under way comes before the rest of it`() async throws {
            try await withWorkbench { bench in
                try await bench.serveHeld(allowing: 60_000, environment: ["BOOKSYNC_JOBS": "1"]) { shelf, demo in
                    let stream = try EventStream(shelf)
                    defer { stream.close() }
                    try await stream.begun()
                    #expect(try await status(of: "fetch", #"{"refs": ["demo:40111/1-4"]}"#, shelf) == 200)
                    try await stream.event(["state": "downloading", "id": id(1)])
                    // One that the run is to bring anyway, and one that it is not.
                    #expect(try await status(of: "fetch", #"{"refs": ["demo:40111/4"]}"#, shelf) == 200)
                    #expect(try await status(of: "fetch", #"{"refs": ["demo:40111/6"]}"#, shelf) == 200)
                    try await shelf.product.waitForErrors(containing: "1 episode moved to the front")
                    try await shelf.product.waitForErrors(containing: "1 episode of 夜航船 requested separately")
                    demo.tap.open()
                    for section in [1, 2, 3, 4, 6] { try await stream.event(["state": "finished", "id": id(section)]) }
                    let order = demo.server.record.requests.filter { $0.path.hasSuffix(".mp3") }
                        .map { $0.path.suffix(5).prefix(1) }
                    #expect(Set(order[1...2]) == ["4", "6"] && order[3...] == ["2", "3"], "\(order)")
                    try await shelf.product.waitForErrors(containing: "5 fetched")
                }
                let runs = try JSONObject.list(try await bench.run("runs", "--json").output)
                #expect(runs.map { $0.number("fetched") } == [5], "one run brings it all")
            }
        }

        @Test func `what was broken off or paused while a run lasts is not brought by what joins it`() async throws {
            try await withWorkbench { bench in
                try await bench.serveHeld(allowing: 60_000, environment: ["BOOKSYNC_JOBS": "1"]) { shelf, demo in
                    let stream = try EventStream(shelf)
                    defer { stream.close() }
                    try await stream.begun()
                    let forced = #"{"refs": ["demo:40111/1-4"], "force": true}"#
                    #expect(try await status(of: "fetch", forced, shelf) == 200)
                    try await stream.event(["state": "downloading", "id": id(1)])
                    for (word, section) in [("cancel", 2), ("pause", 3)] {
                        let row = #"{"refs": ["demo:40111/\#(section)"]}"#
                        #expect(try JSONObject(try await post(shelf, word, row).text).number("count") == 1)
                    }
                    // A whole book is called off, whether its catalog was read by then or not.
                    #expect(try await status(of: "fetch", #"{"refs": ["demo:30776"]}"#, shelf) == 200)
                    let called = try await post(shelf, "cancel", #"{"refs": ["demo:30776"]}"#)
                    #expect(try #require(try JSONObject(called.text).number("count")) >= 1)
                    #expect(try await status(of: "fetch", #"{"refs": ["demo:40111/6"]}"#, shelf) == 200)
                    try await shelf.product.waitForErrors(containing: "cancelled 第002集")
                    try await shelf.product.waitForErrors(containing: "paused 第003集")
                    demo.tap.open()
                    for section in [6, 4] { try await stream.event(["state": "finished", "id": id(section)]) }
                    #expect(try await state(of: 2, shelf) == "cancelled")
                    #expect(try await state(of: 3, shelf) == "paused")
                    let books = try JSONObject.list(try await shelf.send("/api/v1/books").text)
                    #expect(books.filter { $0["id"] == "30776" }.allSatisfy { $0.number("present") == 0 })
                }
            }
        }

        @Test(arguments: [#"{"all": true}"#, #"{"all": true, "refs": ["demo:40111"]}"#])
        func
            `to pause and to resume all is about the queue: nothing else is downloaded, and nothing that was cancelled`(
                all: String
            ) async throws
        {
            try await withWorkbench { bench in
                try await bench.serveHeld(allowing: 60_000) { shelf, demo in
                    func count(_ action: String, _ body: String) async throws -> Int? {
                        try JSONObject(try await post(shelf, action, body).text).number("count")
                    }
                    let stream = try EventStream(shelf)
                    defer { stream.close() }
                    try await stream.begun()
                    #expect(try await count("fetch", #"{"refs": ["demo:40111/1-3"]}"#) == 1)
                    for section in 1...3 { try await stream.event(["state": "downloading", "id": id(section)]) }
                    #expect(try await count("cancel", #"{"refs": ["demo:40111/3"]}"#) == 1)
                    let buttons = try await shelf.send("/books/demo/40111").text.components(separatedBy: "<form")
                    #expect(
                        buttons.contains {
                            $0.contains("actions/pause\"") && $0.contains("name=\"all\" value=\"true\"")
                        })
                    #expect(try await count("pause", all) == 2)
                    try await shelf.product.waitForErrors(containing: "40111 夜航船: 0 fetched")
                    #expect(try await count("pause", all) == 0)

                    demo.tap.open()
                    #expect(try await count("resume", all) == 2)
                    try await shelf.product.waitForErrors(containing: "2 resumed")
                    #expect(try await state(of: 3, shelf) == "cancelled")
                    #expect(try await count("resume", all) == 0)
                    let asked = Set(demo.server.record.requests.map(\.path).filter { $0.hasSuffix(".mp3") })
                    #expect(try asked.count == 3 && bench.files().count == 2, "\(asked)")
                    // Who names it wants it.
                    #expect(try await count("resume", #"{"refs": ["demo:40111/3"]}"#) == 1)
                    try await stream.event(["state": "finished", "id": id(3)])
                }
            }
        }

        @Test func `a new book can be cancelled while its catalog is asked`() async throws {
            let gate = Gate()
            let catalog = ScriptedCatalog(episodes: 2)
            let script = ServerScript { request in
                var reply = catalog.script.answer(request)
                if !request.path.hasPrefix("/audio/") { reply.ending = .stallAfter(bytes: 1, until: gate) }
                return reply
            }
            try await withCatalog(script) { bench, server in
                try await bench.serve(environment: bench.configured) { shelf in
                    #expect(try await status(of: "fetch", #"{"refs": ["1"]}"#, shelf) == 200)
                    try await server.waitUntil { !$0.requests.isEmpty }
                    let called = try await post(shelf, "cancel", #"{"refs": ["1"]}"#)
                    #expect(called.status == 200)
                    #expect(try JSONObject(called.text).number("count") == 1)
                    gate.open()
                    try await shelf.product.waitForErrors(containing: "0 fetched, 2 left for the next run")
                    #expect(server.record.requests.allSatisfy { !$0.path.hasPrefix("/audio/") })
                    // Asked for once more it is fetched.
                    #expect(try await status(of: "fetch", #"{"refs": ["1"]}"#, shelf) == 200)
                    try await shelf.product.waitForErrors(containing: "2 fetched")
                    #expect(try bench.digests() == catalog.digests)
                }
            }
        }

        // Where only some are begun, what is planned waits for the other catalogs.
        @Test(arguments: [["fetch", "1"], ["mirror", "--max-episodes", "9"]])
        func `a book is cancelled in another terminal before the run under way begins it`(command: [String])
            async throws
        {
            let isMirror = command[0] == "mirror"
            let (gate, isHeld) = (Gate(), Watched(false))
            let catalog = ScriptedCatalog(episodes: 3)
            let script = ServerScript { request in
                var reply = catalog.script.answer(request)
                if isHeld.value, request.query["bookId"] == (isMirror ? "2" : "1") {
                    reply.ending = .stallAfter(bytes: 1, until: gate)
                }
                return reply
            }
            let subscriptions = #"subscriptions: [{ book: "cat:1" }, { book: "cat:2" }]"#
            try await withCatalog(script, more: subscriptions) { bench, server in
                #expect(try await bench.run("fetch", "1/1", environment: bench.configured).exitCode == 0)
                isHeld.update { $0 = true }
                let before = server.record.requests.count
                let arguments = command + ["--library", "L"]
                try await withProduct(arguments, environment: bench.configured, in: bench.folder) { run in
                    try await server.waitUntil { $0.requests.count >= before + (isMirror ? 2 : 1) }
                    let called = try await bench.run("cancel", isMirror ? "1" : "1/2-3", environment: bench.configured)
                    #expect(called.exitCode == 0 && called.errors.contains("the run under way begins none of these"))
                    gate.open()
                    let result = try await run.result()
                    #expect(result.errors.contains("2 left for the next run"), "\(result.errors)")
                }
                #expect(try bench.files().count == (isMirror ? 4 : 1))
                #expect(try await bench.run("fetch", "1", environment: bench.configured).exitCode == 0)
                #expect(try bench.files().count == (isMirror ? 6 : 3))
            }
        }

        @Test func `a run of another process is waited for, and what it brings is not fetched again`() async throws {
            try await withWorkbench { bench in
                try await bench.serveHeld(allowing: 60_000) { shelf, demo in
                    try await bench.start("fetch", "40111/1-2", "-q", environment: bench.configured) { run in
                        let stream = try EventStream(shelf)
                        defer { stream.close() }
                        try await stream.event(["state": "downloading", "id": id(1)])
                        #expect(try await status(of: "fetch", #"{"refs": ["demo:40111/2-3"]}"#, shelf) == 200)
                        try await shelf.product.waitForErrors(containing: "fetch waits for its end")
                        demo.tap.open()
                        #expect(try await run.result().exitCode == 0)
                        // By the other run, where that has seen it before its end, else by this server's.
                        try await waitUntil("all are there") { try bench.files().count == 3 }
                    }
                    #expect(demo.server.record.requests.count { $0.path.hasSuffix(".mp3") } == 3)
                }
            }
        }

        @Test func `a server that is killed in mid-run goes on where it stopped`() async throws {
            try await withWorkbench { bench in
                try await bench.serveHeld(allowing: 60_000) { shelf, _ in
                    let stream = try EventStream(shelf)
                    try await stream.begun()
                    #expect(try await status(of: "fetch", #"{"refs": ["demo:40111/1"]}"#, shelf) == 200)
                    _ = try await stream.event(["state": "downloading", "id": id(1)])
                    shelf.product.send(signal: SIGKILL)
                    #expect(try await shelf.product.result().signal == SIGKILL)
                }
                #expect(try bench.partialFiles.count == 1)
                try await bench.serve { shelf in
                    // Nobody asks again.
                    try await shelf.product.waitForErrors(containing: "1 resumed")
                    let runs = try JSONObject.list(try await shelf.send("/api/v1/runs").text)
                    #expect(Set(runs.map { $0["state"] }) == ["cut_off", "ended"])
                }
            }
        }

        @Test func `what a killed server was asked for is done by the next process that has the library`() async throws
        {
            try await withWorkbench { bench in
                try await bench.serveHeld(allowing: 60_000) { shelf, _ in
                    let stream = try EventStream(shelf)
                    try await stream.begun()
                    #expect(try await status(of: "subscribe", #"{"refs": ["demo:40111/1-2"]}"#, shelf) == 200)
                    #expect(try await status(of: "mirror", "{}", shelf) == 200)
                    _ = try await stream.event(["state": "downloading", "id": id(1)])
                    // One that the run under way has seen, and one that it has perhaps not.
                    for section in [3, 4] {
                        #expect(
                            try await status(of: "fetch", #"{"refs": ["demo:40111/\#(section)"]}"#, shelf) == 200)
                    }
                    let page = try await shelf.send("/queue").text
                    #expect(page.contains("asked for, and not done yet: all subscriptions, demo:40111/3"))
                    shelf.product.send(signal: SIGKILL)
                    #expect(try await shelf.product.result().signal == SIGKILL)
                }
                let queue = try await bench.run("queue")
                #expect(queue.output.contains("asked for, and not done yet: all subscriptions, demo:40111/3"))
                // A run of something else.
                let run = try await bench.run("fetch", "40111/6")
                #expect(run.exitCode == 0, "\(run.errors)")
                #expect(try bench.files().count == 3)
                try await bench.serve { shelf in
                    try await shelf.product.waitForErrors(containing: " resumed (")
                    try await waitUntil("nothing is asked for") {
                        try await !bench.run("queue").output.contains("not done yet")
                    }
                }
            }
        }

        @Test func `a signal cuts the run of a server off, and keeps what it brought`() async throws {
            try await withWorkbench { bench in
                try await bench.serveHeld(allowing: 60_000) { shelf, _ in
                    let stream = try EventStream(shelf)
                    try await stream.begun()
                    #expect(try await status(of: "fetch", #"{"refs": ["demo:40111/1"]}"#, shelf) == 200)
                    try await stream.event(["state": "downloading", "id": id(1)])
                    shelf.product.send(signal: SIGTERM)
                    let ended = try await shelf.product.result()
                    #expect(ended.exitCode == 143)
                    #expect(ended.errors.contains("left for the next run"))
                }
                #expect(try bench.partialFiles.count == 1)
            }
        }

        @Test func `subscribing, mirroring and unsubscribing`() async throws {
            try await withWorkbench { bench in
                try await bench.serve { shelf in
                    let subscribed = try await post(
                        shelf, "subscribe", #"{"refs": ["demo:40111"], "latest": 2, "title": "夜"}"#)
                    #expect(subscribed.status == 200)
                    let shown = try JSONObject.list(try await shelf.send("/api/v1/subscriptions").text)
                    #expect(shown.map { $0["title"] } == ["夜"] && shown.first?.number("latest") == 2)
                    let mirrored = try await post(shelf, "mirror", "")
                    #expect(try JSONObject(mirrored.text).number("count") == 1)
                    try await shelf.product.waitForErrors(containing: "40111 夜: 2 fetched")
                    #expect(try await status(of: "unsubscribe", #"{"refs": ["demo:40111"]}"#, shelf) == 200)
                    #expect(try await post(shelf, "unsubscribe", #"{"refs": ["demo:40111"]}"#).status == 404)
                }
                let runs = try JSONObject.list(try await bench.run("runs", "--json").output)
                // Its catalog was read when it was subscribed to, and nothing fetched then.
                #expect(runs.map { $0["command"] } == ["fetch", "mirror"])
                #expect(runs.map { $0.number("fetched") } == [0, 2] && runs.first?.number("left") == 2)
            }
        }

        @Test func `subscribing in the browser keeps the naming that a book has`() async throws {
            try await withWorkbench { bench in
                try await bench.serve { shelf in
                    let naming = "{title}/{section}"
                    #expect(try await bench.run("subscribe", "demo:40111", "--naming", naming, "-q").exitCode == 0)
                    let answer = try await post(shelf, "subscribe", #"{"refs": ["demo:40111"], "latest": 2}"#)
                    #expect(try JSONObject(answer.text).objects("subscriptions").map { $0["naming"] } == [naming])
                    let shown = try JSONObject.list(try await shelf.send("/api/v1/subscriptions").text)
                    #expect(shown.map { $0["naming"] } == [naming] && shown.first?.number("latest") == 2)
                }
            }
        }

        @Test func `what is followed stands on the shelf before it is fetched, with when that will be`() async throws {
            try await withWorkbench { bench in
                try await bench.serve { shelf in
                    #expect(try await status(of: "subscribe", #"{"refs": ["demo:40111"]}"#, shelf) == 200)
                    try await shelf.product.waitForErrors(containing: "40111 夜航船: 0 fetched")
                    #expect(try await shelf.send("/").text.contains("夜航船"))
                    let page = try await shelf.send("/subscriptions").text
                    #expect(page.contains(">夜航船</a>") && page.contains("0 of 6 episodes on disk"))
                    #expect(page.contains("No mirror run is scheduled here"))
                    #expect(try bench.files().isEmpty)
                }
                try await bench.serve("--mirror-every", "6h") { shelf in
                    try await shelf.product.waitForErrors(containing: "40111 夜航船: 6 fetched")
                    let page = try await shelf.send("/subscriptions").text
                    #expect(page.contains("The next mirror run begins on") && !page.contains("is scheduled here"))
                }
            }
        }

        @Test func `a server mirrors by itself, and not again when it is started anew`() async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("subscribe", "demo:40111/1").exitCode == 0)
                try await bench.serve("--mirror-every", "6h") { shelf in
                    try await shelf.product.waitForErrors(containing: "40111 夜航船: 1 fetched")
                }
                try await bench.serve("--mirror-every", "6h") { shelf in
                    // What is asked for is done, and nothing else was.
                    #expect(try await status(of: "fetch", #"{"refs": ["demo:40111/2"]}"#, shelf) == 200)
                    try await shelf.product.waitForErrors(containing: "1 fetched")
                }
                let runs = try JSONObject.list(try await bench.run("runs", "--json").output)
                #expect(runs.map { $0["command"] } == ["mirror", "fetch"])
                let refused = try await bench.run("serve", "--mirror-every", "5s")
                #expect(refused.exitCode == 64 && refused.errors.contains("--mirror-every"))
            }
        }

        @Test func `that the configuration was edited is told once, before the next run`() async throws {
            try await withWorkbench { bench in
                try bench.configure("downloads: { jobs: 2 }\n")
                try await bench.serve(environment: bench.configured) { shelf in
                    #expect(try await status(of: "fetch", #"{"refs": ["demo:40111/1"]}"#, shelf) == 200)
                    try await shelf.product.waitForErrors(containing: "1 fetched")
                    try bench.configure("downloads: { jobs: 3 }\n")
                    #expect(try await status(of: "fetch", #"{"refs": ["demo:40111/2"]}"#, shelf) == 200)
                    try await shelf.product.waitForErrors(
                        containing: "\(bench.configuration.path) changed: restart serve to use it")
                    // It may join the run before, which then tells of both.
                    #expect(try await status(of: "fetch", #"{"refs": ["demo:40111/3-5"]}"#, shelf) == 200)
                    try await shelf.product.waitForErrors(containing: "夜航船/005 ")
                    shelf.product.send(signal: SIGTERM)
                    let lines = try await shelf.product.result().errorLines
                    #expect(lines.count { $0.contains("restart serve") } == 1)
                    #expect(
                        try #require(lines.firstIndex { $0.contains("1 fetched") })
                            < #require(lines.firstIndex { $0.contains("restart serve") }))
                }
            }
        }

        @Test func `a form does the same and leads back`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    try await bench.dropFiles("40111/1")
                    let body = "episode=demo%2F40111%2F\(id(1))&return=%2Fbooks%2Fdemo%2F40111&token=x"
                    let answer = try await shelf.send(
                        "/actions/pause", method: "POST",
                        [
                            "Content-Type: application/x-www-form-urlencoded",
                            "Content-Length: \(body.utf8.count)", "Origin: \(shelf.address)",
                        ],
                        body: body)
                    #expect(answer.status == 303 && answer.fields["location"] == "/books/demo/40111")
                    #expect(try await state(of: 1, shelf) == "paused")
                }
            }
        }

        @Test func `where the user stopped is noted and can be read, and of no unknown episode`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let body =
                        #"{"position": {"source": "demo", "book_id": "40111", "id": "\#(id(1))", "seconds": 12.5, "duration": 30}}"#
                    let noted = try await post(shelf, "position", body)
                    #expect(noted.status == 200, "\(noted.text)")
                    let read = try await shelf.send("/api/v1/positions/demo/40111/\(id(1))").text
                    #expect(try JSONObject(read).members["seconds"] as? Double == 12.5, "\(read)")
                    let stranger = body.replacingOccurrences(of: id(1), with: "77")
                    #expect(try await post(shelf, "position", stranger).status == 404)
                }
            }
        }
    }
}
