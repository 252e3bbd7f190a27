import BookModel
import DownloadEngine
import Support
import Testing

/// Case 23: addresses that lead elsewhere. Who gets credentials is told by the tests of Transport.
@Suite(.limitedConcurrency) struct RedirectCaseTests {
    private let bytes = sampleMP3(bytes: 120_000)

    private static func leading(to location: String, status: Int = 302) -> ServerScript {
        .always(.text("elsewhere", status: status, headers: ["Location": location]))
    }

    /// `/a.mp3` and as many hops as asked, then the file.
    private func chain(of hops: Int) -> ServerScript {
        var scripts: [String: ServerScript] = ["/\(hops)": .file(bytes)]
        scripts["/a.mp3"] = Self.leading(to: "/1")
        for hop in 1..<max(hops, 1) { scripts["/\(hop)"] = Self.leading(to: "/\(hop + 1)", status: 307) }
        return .paths(scripts)
    }

    @Test(arguments: [1, 5])
    func `case 23: up to five redirects are followed, and the range is asked for at each`(hops: Int) async throws {
        try await withBench(chain(of: hops)) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.resumed], "\(report.sentences)")
            #expect(try bench.file() == bytes)
            #expect(bench.server.record.requests.count == hops + 1)
            #expect(bench.server.record.requests.allSatisfy { $0.header("Range") == "bytes=50000-" })
            #expect(bench.server.record.requests.allSatisfy { $0.header("If-Range") == "\"v1\"" })
        }
    }

    @Test func `case 23: the sixth redirect is a failure that is not tried again`() async throws {
        try await withBench(chain(of: 6)) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.failures.count == 1)
            #expect(bench.server.record.requests.count == 6)
            #expect(try bench.file() == nil)
        }
    }

    @Test(
        arguments: [
            ("/a.mp3", 6), ("file:///etc/passwd", 1), ("ftp://127.0.0.1/a.mp3", 1), ("javascript:alert(1)", 1),
        ])
    func `case 23: loops, and other schemes than http and https, lead nowhere`(
        location: String, requests: Int
    ) async throws {
        try await withBench(.paths(["/a.mp3": Self.leading(to: location)])) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.failures.count == 1, "\(report.sentences)")
            #expect(bench.server.record.requests.count == requests)
            #expect(try bench.file() == nil)
            #expect(try bench.partialNames() == [])
        }
    }

    @Test func `case 23: another server is as good, and its pages are refused like any`() async throws {
        try await withServer(.paths(["/x.mp3": .file(bytes), "/page": .always(.text("<html>", type: "text/html"))])) {
            other in
            try await withBench(
                .paths([
                    "/a.mp3": Self.leading(to: other.url("/x.mp3")), "/b.mp3": Self.leading(to: other.url("/page")),
                ])
            ) { bench in
                let report = try await bench.fetch(bench.episode(), bench.episode(2, at: "/b.mp3"))
                #expect(report.receipts.map(\.section) == [1])
                #expect(report.failures.map(\.section) == [2])
                #expect(try bench.file() == bytes)
            }
        }
    }
}
