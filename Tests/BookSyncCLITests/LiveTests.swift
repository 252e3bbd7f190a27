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
                    try await stream.message { $0.data == "[]" }
                    try await bench.start("fetch", "40111/1-2", "-q", environment: bench.configured) { run in
                        try await stream.event(["event": "run", "state": "under_way", "command": "fetch"])
                        try await stream.event(["state": "downloading", "id": id(1)])
                        demo.tap.allow(120_000)
                        let moving = try await stream.event(["event": "progress", "id": id(1), "section": "1"])
                        #expect(moving["source"] == "demo" && moving["book_id"] == "40111")
                        #expect(moving["state"] == "downloading" && moving["name"]?.hasPrefix("第001集") == true)
                        let (done, size) = (moving.number("bytes_done") ?? 0, moving.number("size") ?? 0)
                        #expect(done > 0 && done < size)
                        // One that looks in now is told how far the whole run is, by its bytes.
                        let late = try EventStream(shelf)
                        let share = try await late.event(["event": "run"]).double("share_done") ?? 0
                        late.close()
                        #expect(share > 0 && share < 1)
                        demo.tap.open()
                        #expect(try await run.result().exitCode == 0)
                    }
                    let finished = try await stream.event(["event": "finished", "id": id(2)])
                    #expect(finished.number("bytes_done") == finished.number("size"))
                    try await stream.event(["event": "run", "state": "ended"])
                    try await stream.event(["event": "book", "id": "40111", "present": "2"])
                    // Each is told to have ended once, and how far it is never goes back.
                    let events = try stream.events()
                    for section in 1...2 {
                        let own = events.filter { $0["id"] == id(section) && $0["book_id"] == "40111" }
                        #expect(own.count { $0["event"] == "finished" } == 1)
                        let bytes = own.compactMap { $0.number("bytes_done") }
                        #expect(bytes == bytes.sorted())
                    }
                    #expect(
                        stream.messages.compactMap(\.id)
                            == stream.messages.compactMap(\.id).sorted {
                                $0.count < $1.count || $0.count == $1.count && $0 < $1
                            })
                }
            }
        }

        @Test func `what is paused, broken off and removed in another terminal is told`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let stream = try EventStream(shelf)
                    defer { stream.close() }
                    try await stream.message { $0.data == "[]" }
                    try await bench.dropFiles("40111/1-2")
                    #expect(try await bench.run("pause", "40111/1").exitCode == 0)
                    try await stream.event(["event": "paused", "id": id(1)])
                    #expect(try await bench.run("resume", "40111/1").exitCode == 0)
                    try await stream.event(["event": "waiting", "id": id(1)])
                    #expect(try await bench.run("pause", "40111/2").exitCode == 0)
                    #expect(try await bench.run("cancel", "40111/2").exitCode == 0)
                    try await stream.event(["event": "cancelled", "id": id(2)])
                }
            }
        }

        @Test func `a killed run is told as cut off, and what it had begun as waiting`() async throws {
            try await withWorkbench { bench in
                try await bench.serveHeld(allowing: 60_000) { shelf, _ in
                    let stream = try EventStream(shelf)
                    defer { stream.close() }
                    try await stream.message { $0.data == "[]" }
                    try await bench.start("fetch", "40111/1", "-q", environment: bench.configured) { run in
                        try await stream.event(["state": "downloading", "id": id(1)])
                        run.send(signal: SIGKILL)
                        _ = try await run.result()
                    }
                    try await stream.event(["event": "waiting", "id": id(1)])
                    try await stream.event(["event": "run", "state": "cut_off"])
                }
            }
        }

        @Test func `a client that comes back is told what it missed, and one from before is told to ask anew`()
            async throws
        {
            try await withWorkbench { bench in
                let stale = try await bench.serveShortBook { shelf in
                    let stream = try EventStream(shelf)
                    let first = try #require(try await stream.message { $0.data == "[]" }.id)
                    stream.close()
                    try await stream.waitForEnd()
                    try await bench.dropFiles("40111/2")
                    #expect(try await bench.run("pause", "40111/2").exitCode == 0)
                    let again = try EventStream(shelf, lastEventID: first)
                    try await again.event(["event": "paused", "id": id(2)])
                    #expect(!again.messages.contains { $0.event == "reset" })
                    again.close()
                    for unknown in ["x.1", first + "9", "nothing"] {
                        let other = try EventStream(shelf, lastEventID: unknown)
                        try await other.message { $0.event == "reset" && $0.data == "{}" }
                        other.close()
                    }
                    return first
                }
                // The server was ended; another one knows nothing of the messages of the first.
                try await bench.serve { shelf in
                    let stream = try EventStream(shelf, lastEventID: stale)
                    defer { stream.close() }
                    let reset = try await stream.message { $0.event == "reset" }
                    #expect(reset.id != stale)
                    #expect(try await bench.run("resume", "40111/2").exitCode == 0)
                    try await stream.event(["event": "waiting", "id": id(2)])
                }
            }
        }

        @Test func `a server that stops ends the streams`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let stream = try EventStream(shelf)
                    try await stream.message { $0.data == "[]" }
                    shelf.product.send(signal: SIGTERM)
                    #expect(try await shelf.product.result().exitCode == 143)
                    try await stream.waitForEnd()
                    #expect(stream.messages.allSatisfy { $0.event != "reset" })
                }
            }
        }

        @Test func `a hundred clients are told the same`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let streams = try (0..<100).map { _ in try EventStream(shelf) }
                    for stream in streams { try await stream.message { $0.data == "[]" } }
                    try await bench.dropFiles("40111/2")
                    #expect(try await bench.run("pause", "40111/2").exitCode == 0)
                    for stream in streams { try await stream.event(["event": "paused", "id": id(2)]) }
                    for stream in streams { stream.close() }
                }
            }
        }
    }
}
