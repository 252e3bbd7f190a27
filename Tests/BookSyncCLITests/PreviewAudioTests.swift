import Foundation
import Support
import Testing

extension ProductTests {
    /// The first episode of a book that is only looked at, as a browser plays it.
    @Suite(.limitedConcurrency) struct PreviewAudioTests {
        /// A feed of two episodes behind a password, the newest first, served to a shelf with nothing on it.
        static func withPreview(
            of script: ServerScript, isolation: isolated (any Actor)? = #isolation,
            _ body: (ServedShelf, _ page: String, _ sample: String?, MisbehavingServer) async throws -> Void
        ) async throws {
            let feed = ServerScript { request in
                let own = "http://\(request.header("Host") ?? "")"
                let items = [("Two", "\(own)/2.mp3", 2), ("One", "\(own)/1.mp3", 1)].map {
                    name, address, day in
                    "<item><title>\(name)</title><guid>\(name)</guid><pubDate>0\(day) Sep 2010 10:00:00 +0000</pubDate>"
                        + "<enclosure url=\"\(address)\" type=\"text/html\"/></item>"
                }
                return .text("<rss version=\"2.0\"><channel><title>T</title>\(items.joined())</channel></rss>")
            }
            try await withWorkbench { bench in
                try await withServer(.paths(["/feed": feed, "/1.mp3": script])) { server in
                    let source = "type: feed, url: \"\(server.url("/feed"))\", user: anna, password: secret77"
                    try bench.configure("sources:\n  own: { \(source) }\n")
                    try await bench.serve(environment: bench.configured) { shelf in
                        let token = try await shelf.formToken(on: "/subscriptions")
                        let page = try await shelf.post(
                            "/actions/preview", form: [("ref", "own:feed"), ("token", token)], ["Accept: text/html"])
                        let sample = page.text.firstMatch(of: /<audio[^>]* src="(\/previews\/[^"]+)"/)
                        try await body(shelf, page.text, sample.map { String($0.output.1) }, server)
                    }
                }
            }
        }

        private static let bytes = (0..<1_300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }

        @Test
        func `a player gets the ranges that it asks for, with the credentials of the source, and a page no address`()
            async throws
        {
            try await Self.withPreview(of: .file(Self.bytes)) { shelf, page, sample, server in
                let sample = try #require(sample, "\(page)")
                #expect(!page.contains("1.mp3") && !page.contains("secret77"))
                #expect(!server.record.requests.contains { $0.path == "/1.mp3" })
                func part(_ range: String?) async throws -> ServedShelf.Answer {
                    try await shelf.send(sample, range.map { ["Range: bytes=\($0)"] } ?? [])
                }
                let piece = 512 << 10
                for (range, expected) in [
                    ("0-", 0..<piece), ("0-1", 0..<2), ("524288-", piece..<(2 * piece)),
                    ("1048576-9999999", (2 * piece)..<Self.bytes.count),
                ] {
                    let answer = try await part(range)
                    #expect(answer.status == 206 && answer.body == Array(Self.bytes[expected]), "\(range)")
                    #expect(
                        answer.fields["content-range"]
                            == "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/\(Self.bytes.count)")
                    #expect(answer.fields["content-type"] == "audio/mpeg")
                }
                let asked = server.record.requests.filter { $0.path == "/1.mp3" }
                #expect(asked.count == 4 && asked.allSatisfy { $0.header("Authorization") != nil })
                for range in [nil, "1300000-", "-5", "9223372036854775807-", "5-3"] {
                    #expect(try await part(range).status == (range == nil ? 404 : 416), "\(range ?? "")")
                }
                #expect(try await shelf.send(sample, method: "HEAD", ["Range: bytes=0-"]).status == 404)
                let other = try await shelf.send("/previews/other", ["Range: bytes=0-"])
                #expect(other.status == 416)
            }
        }

        @Test func `of a server without ranges the first piece is heard`() async throws {
            try await Self.withPreview(of: .file(Self.bytes, ranges: false)) { shelf, page, sample, server in
                let sample = try #require(sample, "\(page)")
                let answer = try await shelf.send(sample, ["Range: bytes=100-"])
                #expect(answer.status == 206 && answer.body == Array(Self.bytes[100..<(512 << 10)]))
                #expect(answer.fields["content-range"] == "bytes 100-524287/524288")
                #expect(try await shelf.send(sample, ["Range: bytes=524288-"]).status == 416)
            }
        }

        @Test func `what fails is said`() async throws {
            try await Self.withPreview(of: .always(.text("", status: 404))) { shelf, page, sample, _ in
                let refused = try await shelf.send(try #require(sample, "\(page)"), ["Range: bytes=0-"])
                #expect(refused.status >= 500 && refused.text.contains("404"), "\(refused.text)")
            }
        }
    }
}

extension ForeignClientTests {
    @Suite(
        .needs("chromium", "chromedriver", "ffmpeg"))
    struct PreviewInTheBrowser {
        @Test func `a browser plays the first episode beyond the first piece of it`() async throws {
            try await withWorkbench { bench in
                let arguments =
                    "-v error -nostdin -f lavfi -t 120 -i sine=frequency=330 -c:a libmp3lame -b:a 128k a.mp3"
                let made = try await ForeignProgram.run(
                    "ffmpeg", arguments.split(separator: " ").map(String.init), in: bench)
                #expect(made.exitCode == 0, "\(made.errors)")
                let bytes = Array(try Data(contentsOf: bench.folder.appending(path: "a.mp3")))
                try await ProductTests.PreviewAudioTests.withPreview(of: .file(bytes)) { shelf, _, _, server in
                    try await Browser.run(.init(languages: "en", width: 1200, height: 900)) { browser in
                        try await browser.open("\(shelf.address)/subscriptions")
                        try await browser.type("own:feed\(Browser.Key.enter.rawValue)", into: "#ref")
                        try await browser.wait(until: "document.querySelector('.preview audio')")
                        let audio = "document.querySelector('.preview audio')"
                        let _: Bool = try await browser.evaluate("(\(audio).muted = true, \(audio).play(), true)")
                        try await browser.wait(until: "\(audio).currentTime > 0")
                        #expect(try await browser.evaluate("Math.abs(\(audio).duration - 120) < 1"))
                        let _: Bool = try await browser.evaluate("(\(audio).currentTime = 100, true)")
                        try await browser.wait(until: "\(audio).currentTime > 100.2 && !\(audio).error")
                        #expect(server.record.requests.count { $0.path == "/1.mp3" } > 1)
                        #expect(try await browser.complaints() == [])
                    }
                }
            }
        }
    }
}
