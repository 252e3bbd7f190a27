import Foundation
import Support
import Testing

extension ProductTests {
    /// What happens on the shelf, told to clients as it happens, whichever process does it.
    @Suite struct Live {
        private func id(_ section: Int) -> String { "500000000\(section)" }

        @Test func `a run of another process is shown while it lasts`() async throws {
            try await withWorkbench { bench in
                try await bench.serveHeld(allowing: 60_000) { shelf, demo in
                    let stream = try EventStream(shelf)
                    defer { stream.close() }
                    try await stream.begun()
                    try await bench.start("fetch", "40111/1-2", "-q", environment: bench.configured) { run in
                        try await stream.event(["command": "fetch"], in: "runs")
                        try await stream.event(["state": "downloading", "id": id(1)])
                        demo.tap.allow(120_000)
                        let moving = try await stream.event(["state": "downloading", "id": id(1), "section": "1"])
                        #expect(moving["source"] == "demo" && moving["book_id"] == "40111")
                        #expect(moving["name"]?.hasPrefix("第001集") == true)
                        let (done, size) = (moving.number("bytes_done") ?? 0, moving.number("size") ?? 0)
                        #expect(done > 0 && done < size)
                        // One that looks in now is told how far the whole run is, by its bytes.
                        let late = try EventStream(shelf)
                        let share = try await late.event(["command": "fetch"], in: "runs").double("share_done") ?? 0
                        late.close()
                        #expect(share > 0 && share < 1)
                        demo.tap.open()
                        #expect(try await run.result().exitCode == 0)
                    }
                    let finished = try await stream.event(["state": "finished", "id": id(2)])
                    #expect(finished.number("bytes_done") == finished.number("size"))
                    try await waitUntil("the run is over") {
                        try stream.shelves().last?.objects("runs").isEmpty == true
                    }
                    // Each is told to have ended once, and how far it is never goes back.
                    let shelves = try stream.shelves()
                    for section in 1...2 {
                        func own(_ part: String) -> [JSONObject] {
                            shelves.flatMap { $0.objects(part) }.filter { $0["id"] == id(section) }
                        }
                        #expect(own("ended").map { $0["state"] } == ["finished"])
                        let bytes = own("moving").compactMap { $0.number("bytes_done") }
                        #expect(bytes == bytes.sorted())
                    }
                }
            }
        }

        @Test func `what is paused, resumed and removed in another terminal, and what comes, makes another version`()
            async throws
        {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    try await bench.dropFiles("40111/2")
                    // Not before: versions that nobody waited for would be taken for those of the commands below.
                    let stream = try EventStream(shelf)
                    defer { stream.close() }
                    var known = [try await stream.begun()]
                    for command in [
                        "pause 40111/2", "resume 40111/2", "remove 40111/1 --yes", "undo", "fetch 40111/2",
                    ] {
                        let outcome = try await bench.shell("$BOOKSYNC \(command) --library L")
                        #expect(outcome.exitCode == 0, "\(command): \(outcome.errors)")
                        known.append(try await stream.version(otherThan: known))
                    }
                }
            }
        }

        @Test func `a killed run moves no more, and what it had begun waits`() async throws {
            try await withWorkbench { bench in
                try await bench.serveHeld(allowing: 60_000) { shelf, _ in
                    let stream = try EventStream(shelf)
                    defer { stream.close() }
                    try await stream.begun()
                    try await bench.start("fetch", "40111/1", "-q", environment: bench.configured) { run in
                        try await stream.event(["state": "downloading", "id": id(1)])
                        run.send(signal: SIGKILL)
                        _ = try await run.result()
                    }
                    try await stream.event(["state": "waiting", "id": id(1)], in: "ended")
                    #expect(try stream.shelves().last?.objects("runs").isEmpty == true)
                }
            }
        }

        @Test func `a client that comes back knows by the version whether it missed something`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    func version(otherThan known: [String] = []) async throws -> String {
                        let stream = try EventStream(shelf)
                        defer { stream.close() }
                        return try await stream.version(otherThan: known)
                    }
                    let first = try await version()
                    #expect(try await version() == first)
                    try await bench.dropFiles("40111/2")
                    #expect(try await bench.run("pause", "40111/2").exitCode == 0)
                    #expect(try await version(otherThan: [first]).hasPrefix(first.prefix { $0 != "." }))
                }
            }
        }

        @Test func `a server that stops ends the streams`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let stream = try EventStream(shelf)
                    try await stream.begun()
                    shelf.product.send(signal: SIGTERM)
                    #expect(try await shelf.product.result().exitCode == 143)
                    try await stream.waitForEnd()
                }
            }
        }

        @Test func `a hundred clients are told the same`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let streams = try (0..<100).map { _ in try EventStream(shelf) }
                    let first = try await streams[0].begun()
                    for stream in streams { try await stream.begun() }
                    try await bench.dropFiles("40111/2")
                    #expect(try await bench.run("pause", "40111/2").exitCode == 0)
                    for stream in streams { try await stream.version(otherThan: [first]) }
                    for stream in streams { stream.close() }
                }
            }
        }
    }
}
