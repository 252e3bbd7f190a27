#if os(Linux)
    import Foundation
    import Support
    import Testing

    extension ProductTests {
        /// Episodes that their server has not had for weeks.
        @Suite(.needsCompiler)
        struct GoneAtSource {
            /// Nights of a cron job, by a clock that the test moves.
            private struct Nights {
                let bench: Workbench
                let clock: MovedClock
                var night = 0

                mutating func next(_ arguments: String...) async throws -> ProductRunner.Result {
                    night += 1
                    try clock.move(to: Double(night * 24))
                    return try await ProductRunner.run(
                        ["mirror", "--library", "L"] + arguments, environment: clock.environment, in: bench.folder)
                }
            }

            private static var feed: ServedFeed {
                var feed = ServedFeed()
                feed.items = [3, 2, 1].map { ServedFeed.Item($0) }
                feed.lost = [2]
                return feed
            }

            /// Runs the nights until the episode counts as gone.
            private func withGone(
                _ body: (inout Nights, MisbehavingServer, Watched<ServedFeed>) async throws -> Void
            ) async throws {
                try await withFeed(Self.feed) { bench, server, feed in
                    var nights = Nights(bench: bench, clock: try await MovedClock.make(in: bench.folder))
                    #expect(try await bench.run("subscribe", server.url("/feed.xml"), "-q").exitCode == 0)
                    var told = 0
                    while told == 0, nights.night < 40 {
                        let run = try await nights.next()
                        told += run.errors.contains("gone at the source since") ? 1 : 0
                        #expect(run.exitCode == (told == 0 ? 75 : 0), "night \(nights.night): \(run.errors)")
                        #expect(run.errors.contains(/Serial.* episode 2/), "\(run.errors)")
                    }
                    #expect((14...22).contains(nights.night), "after weeks")
                    try await body(&nights, server, feed)
                }
            }

            @Test func `what is 404 for weeks is told once, and then no night is incomplete without it`() async throws {
                try await withGone { nights, server, feed in
                    let asked = server.requests(path: "/audio/2.mp3").count
                    for _ in 1...30 {
                        let run = try await nights.next("--json")
                        #expect(run.exitCode == 0, "night \(nights.night): \(run.errors)")
                        #expect(
                            !run.errors.contains("/audio") && !run.errors.contains("gone at the source"), "told once")
                        #expect(try run.summary().number("gone") == 1)
                        #expect(try run.summary().number("kept") == 2)
                    }
                    let more = server.requests(path: "/audio/2.mp3").count - asked
                    #expect((3...5).contains(more), "once a week")
                    let bench = nights.bench
                    let reference = "\(server.url("/feed.xml"))#2"
                    let explained = try await bench.run("explain", reference, environment: nights.clock.environment)
                    #expect(explained.output.contains("gone at the source"), "\(explained.output)")
                    // What the user names is missing all the same.
                    let named = try await bench.run("fetch", reference, environment: nights.clock.environment)
                    #expect(named.exitCode == 75)
                    // It comes back.
                    feed.update { $0.lost = [] }
                    for _ in 1...8 { #expect(try await nights.next("-q").exitCode == 0) }
                    #expect(try bench.files().count == 3)
                }
            }

            @Test func `what is gone is tried at once when the catalog lists it otherwise`() async throws {
                try await withGone { nights, server, feed in
                    #expect(try await nights.next().exitCode == 0)
                    // At another address it is not there either: that is told.
                    feed.update { $0.items[1].path = "/elsewhere/2.mp3" }
                    #expect(try await nights.next().exitCode == 75)
                    #expect(try await nights.next().exitCode == 0)
                    feed.update { feed in
                        feed.items[1].path = "/right/2.mp3"
                        feed.lost = []
                    }
                    let back = try await nights.next("--json")
                    #expect(back.exitCode == 0, "\(back.errors)")
                    #expect(try back.summary().number("fetched") == 1)
                    #expect(try nights.bench.files().count == 3)
                }
            }

            @Test func `what a server refuses for weeks is not gone`() async throws {
                try await withFeed(Self.feed) { bench, server, feed in
                    var nights = Nights(bench: bench, clock: try await MovedClock.make(in: bench.folder))
                    #expect(try await bench.run("subscribe", server.url("/feed.xml"), "-q").exitCode == 0)
                    feed.update { feed in
                        feed.lost = []
                        feed.redirects["/audio/2.mp3"] = (402, "/nowhere")
                    }
                    for _ in 1...30 { #expect(try await nights.next("-q").exitCode == 75) }
                    feed.update { $0.redirects = [:] }
                    for _ in 1...7 { _ = try await nights.next("-q") }
                    #expect(try bench.files().count == 3)
                }
            }
        }
    }
#endif
