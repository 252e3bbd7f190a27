import BookModel
import DownloadEngine
import Foundation
import Support
import Testing
import Transport

/// Case 32 of the download cases: audio through real small proxies. They go to loopback whatever name they are given,
/// so the names here are ones that only a proxy can know.
@Suite(.limitedConcurrency) struct ProxyCaseTests {
    private let bytes = sampleMP3(bytes: 120_000)

    private func episode(_ bench: EngineBench, _ section: Int = 1, at path: String = "/a.mp3") -> Episode {
        var episode = bench.episode(section)
        episode.address = ResourceAddress("http://audio.example:\(bench.server.port)\(path)")
        return episode
    }

    @Test func `case 32: plain HTTP goes to an HTTP proxy in absolute form, on connections that are kept`() async throws
    {
        let bytes = bytes
        try await withProxy(.http) { proxy in
            try await withBench(
                ServerScript { ServedFile(bytes).answer(to: $0) }, jobs: 1, retries: 0,
                proxies: ["http_proxy": "http://127.0.0.1:\(proxy.port)"]
            ) { bench in
                let report = try await bench.fetch(
                    episode(bench), episode(bench, 2, at: "/b.mp3?x=1"), episode(bench, 3, at: "/c.mp3"))
                #expect(report.receipts.count == 3, "\(report.sentences)")
                #expect(try bench.file() == bytes)
                let origin = "http://audio.example:\(bench.server.port)"
                #expect(
                    proxy.record.requests
                        == ["/a.mp3", "/b.mp3?x=1", "/c.mp3"].map { "GET \(origin)\($0) HTTP/1.1" })
                #expect(proxy.record.connections == [0, 0, 0])
                let requests = bench.server.record.requests
                #expect(Set(requests.map { $0.header("Host") }) == ["audio.example:\(bench.server.port)"])
                #expect(requests.map(\.target) == ["/a.mp3", "/b.mp3?x=1", "/c.mp3"])
            }
        }
    }

    @Test(arguments: ["socks5h://", "socks://", "socks5://"])
    func `case 32: a SOCKS proxy makes a tunnel for each server`(prefix: String) async throws {
        let bytes = bytes
        try await withProxy(.socks) { proxy in
            try await withBench(
                ServerScript { ServedFile(bytes).answer(to: $0) }, jobs: 1, retries: 0,
                proxies: ["all_proxy": "\(prefix)127.0.0.1:\(proxy.port)"]
            ) { bench in
                // The one kind that resolves names here needs one that can be resolved.
                let host = prefix == "socks5://" ? "localhost" : "audio.example"
                func episode(_ section: Int, _ path: String) -> Episode {
                    var episode = bench.episode(section)
                    episode.address = ResourceAddress("http://\(host):\(bench.server.port)\(path)")
                    return episode
                }
                let report = try await bench.fetch(episode(1, "/a.mp3"), episode(2, "/b.mp3"))
                #expect(report.receipts.count == 2, "\(report.sentences)")
                #expect(try bench.file() == bytes)
                // A kept connection needs no second tunnel.
                #expect(proxy.record.requests.count == 1)
                if host == "audio.example" {
                    #expect(proxy.record.requests == ["SOCKS audio.example:\(bench.server.port)"])
                } else {
                    #expect(proxy.record.requests.first?.contains("localhost") == false)
                }
                #expect(Set(bench.server.record.requests.map { $0.header("Host") }) == ["\(host):\(bench.server.port)"])
            }
        }
    }

    @Test(arguments: [LoopbackProxy.Kind.http, .socks], [30_000, 0])
    func `case 32: a proxy that ends the connection midway costs what was not received`(
        kind: LoopbackProxy.Kind, cut: Int
    ) async throws {
        try await withProxy(kind) {
            // Through a tunnel the answer's head is counted, too.
            $0.cut = { $0 == 0 ? cut : nil }
        } _: { proxy in
            let scheme = kind == .http ? "http" : "socks5h"
            try await withBench(
                .file(bytes), retries: 2, proxies: ["all_proxy": "\(scheme)://127.0.0.1:\(proxy.port)"]
            ) { bench in
                let report = try await bench.fetch(episode(bench))
                #expect(report.receipts.count == 1, "\(report.sentences)")
                #expect(report.bytesReceived == 120_000)
                #expect(try bench.file() == bytes)
                #expect(proxy.record.requests.count == 2)
                guard cut > 0 else {
                    #expect(ranges(bench.server).last == .some(nil))
                    return
                }
                let range = try #require(ranges(bench.server).last ?? nil)
                let begin = try #require(Int(range.dropFirst("bytes=".count).dropLast()))
                // Through a tunnel the head took some of what was let through.
                #expect(kind == .http ? begin == cut : (cut - 1000..<cut).contains(begin), "\(range)")
                #expect(bench.server.record.exchanges.last?.bodyBytesSent == 120_000 - begin)
            }
        }
    }

    @Test(arguments: [Reply.closeBeforeAnswer, .resetBeforeAnswer])
    func `case 32: a kept connection to a proxy that ends under the next request is no failure`(
        ending: Reply
    ) async throws {
        let bytes = bytes
        // This one plays the proxy, and the servers behind it, too.
        let script = ServerScript { request in
            request.numberOnConnection == 0 ? ServedFile(bytes).answer(to: request) : ending
        }
        try await withServer(script) { proxy in
            try await withBench(
                .always(.notFound), jobs: 1, retries: 0, proxies: ["http_proxy": "127.0.0.1:\(proxy.port)"]
            ) { bench in
                var second = bench.episode(2)
                second.address = ResourceAddress("http://other.example/b.mp3")
                let report = try await bench.fetch(episode(bench), second)
                #expect(report.receipts.count == 2, "\(report.sentences)")
                let exchanges = proxy.record.requests
                #expect(exchanges.map(\.connection) == [0, 0, 1])
                #expect(exchanges.last?.target == "http://other.example/b.mp3")
                #expect(exchanges.last?.header("Host") == "other.example")
            }
        }
    }

    @Test(arguments: [LoopbackProxy.Kind.http, .socks])
    func `case 32: twelve transfers at once go through one proxy`(kind: LoopbackProxy.Kind) async throws {
        let bytes = bytes
        try await withProxy(kind) { proxy in
            let scheme = kind == .http ? "http" : "socks5h"
            try await withBench(
                ServerScript { ServedFile(bytes).answer(to: $0) }, jobs: 12, jobsPerHost: 12, retries: 1,
                proxies: ["all_proxy": "\(scheme)://127.0.0.1:\(proxy.port)"]
            ) { bench in
                var requests: [TransferRequest] = []
                for number in 1...36 {
                    requests.append(try await bench.request(episode(bench, number, at: "/\(number).mp3")))
                }
                let report = await bench.run(requests)
                #expect(report.receipts.count == 36, "\(report.sentences)")
                #expect(report.bytesReceived == 36 * 120_000)
                #expect(bench.server.record.requests.count == 36)
                #expect(proxy.record.connectionsAccepted <= 12)
            }
        }
    }

    @Test(arguments: ["http://", "http://me:wrong@"])
    func `case 32: a proxy's credentials are told from the source's`(prefix: String) async throws {
        try await withProxy(.http) {
            $0.credentials = "me:right"
        } _: { proxy in
            try await withBench(.file(bytes), proxies: ["all_proxy": "\(prefix)127.0.0.1:\(proxy.port)"]) { bench in
                let failure = try #require(try await bench.fetch(episode(bench)).failures.first?.failure)
                let complaint =
                    prefix.contains("@") ? "does not accept the user and password" : "wants a user and a pass"
                #expect(failure.why.description.contains(complaint), "\(failure)")
                #expect(failure.remedy?.description == "check the proxy's user and password, not the source's")
                #expect(!"\(failure)".contains("wrong"))
                #expect(bench.server.record.connectionsAccepted == 0)
                #expect(proxy.record.connectionsAccepted == 1, "tried again in vain")
            }
        }
    }

    @Test func `case 32: credentials for the proxy go to the proxy only`() async throws {
        try await withProxy(.http) {
            $0.credentials = "me:right"
        } _: { proxy in
            let bytes = bytes
            try await withBench(
                .file(bytes), proxies: ["http_proxy": "http://me:right@127.0.0.1:\(proxy.port)"]
            ) { bench in
                let report = try await bench.fetch(episode(bench))
                #expect(report.receipts.count == 1, "\(report.sentences)")
                #expect(bench.server.record.requests.allSatisfy { $0.header("Proxy-Authorization") == nil })
                #expect(proxy.record.heads.allSatisfy { $0.contains("Proxy-Authorization: Basic ") })
            }
            try await withServer(ServerScript { ServedFile(bytes).answer(to: $0) }) { other in
                let script = ServerScript.always(
                    .reply(status: 302, headers: ["Location": other.url("/elsewhere.mp3")]))
                try await withBench(
                    script,
                    proxies: ["http_proxy": "http://me:right@127.0.0.1:\(proxy.port)", "no_proxy": "127.0.0.1"]
                ) { bench in
                    // From a server behind the proxy to one that is asked directly.
                    let report = try await bench.fetch(episode(bench))
                    #expect(report.receipts.count == 1, "\(report.sentences)")
                    #expect(other.record.requests.map(\.target) == ["/elsewhere.mp3"])
                    #expect(other.record.requests.allSatisfy { $0.header("Proxy-Authorization") == nil })
                }
            }
        }
    }

    @Test func `case 32: no_proxy and a source's own choice are obeyed`() async throws {
        try await withProxy(.http) { proxy in
            let address = "http://127.0.0.1:\(proxy.port)"
            try await withBench(.file(bytes), proxies: ["http_proxy": address, "no_proxy": "127.0.0.0/8"]) { bench in
                let report = try await bench.fetch(bench.episode())
                #expect(report.receipts.count == 1, "\(report.sentences)")
                #expect(proxy.record.connectionsAccepted == 0)
            }
            try await withBench(.file(bytes), proxies: ["http_proxy": address]) { bench in
                var request = try await bench.request(bench.episode())
                request.access = SourceAccess(proxy: .direct)
                #expect(await bench.run([request]).receipts.count == 1)
                #expect(proxy.record.connectionsAccepted == 0)
            }
            try await withBench(.file(bytes), proxies: ["no_proxy": "*"]) { bench in
                var request = try await bench.request(bench.episode())
                request.access = SourceAccess(proxy: .through(try ProxyAddress(parsing: address)))
                #expect(await bench.run([request]).receipts.count == 1)
                #expect(proxy.record.requests.count == 1)
            }
        }
    }

    @Test(arguments: ["http://", "socks5h://"])
    func `case 32: a private address behind a proxy is one still, and a proxy on a private network is none`(
        scheme: String
    ) async throws {
        try await withProxy(scheme == "http://" ? .http : .socks) { proxy in
            try await withBench(.file(bytes), proxies: ["all_proxy": "\(scheme)127.0.0.1:\(proxy.port)"]) { bench in
                for host in ["192.168.1.1", "localhost"] {
                    var local = bench.episode()
                    local.address = ResourceAddress("http://\(host):\(bench.server.port)/a.mp3")
                    var request = try await bench.request(local)
                    request.access = .publicOnly
                    let failure = try #require(await bench.run([request]).failures.first?.failure)
                    #expect(failure.why.description.contains("private network"), "\(failure)")
                }
                #expect(proxy.record.connectionsAccepted == 0)
                var request = try await bench.request(episode(bench))
                request.access = .publicOnly
                let report = await bench.run([request])
                #expect(report.receipts.count == 1, "\(report.sentences)")
            }
        }
    }

    @Test(arguments: ["http://", "socks5h://"])
    func `case 32: a proxy that never answers is given up after the time for connecting`(scheme: String) async throws {
        try await withProxy(scheme == "http://" ? .http : .socks) {
            $0.isSilent = true
        } _: { proxy in
            try await withBench(
                // Forwarded requests are out by then, and wait as those to a server do.
                .file(bytes), retries: 1, stallTimeout: scheme == "http://" ? 0.3 : 30, connectTimeout: 0.3,
                proxies: ["all_proxy": "\(scheme)127.0.0.1:\(proxy.port)"]
            ) { bench in
                let failure = try #require(try await bench.fetch(episode(bench)).failures.first?.failure)
                #expect(failure.why.description.contains("2 times in a row"), "\(failure)")
                // On a busy machine the time may be over before there is a connection.
                #expect(proxy.record.connectionsAccepted <= 2)
            }
        }
    }

    @Test(arguments: ["http://", "socks5h://"], ["\u{1}\u{2}\u{3}garbage\r\n\r\n", "", "HTTP/1.1 200 OK\r\n"])
    func `case 32: a proxy that garbles is a failure, never a hang`(scheme: String, insult: String) async throws {
        try await withProxy(scheme == "http://" ? .http : .socks) {
            $0.insult = Array(insult.utf8)
        } _: { proxy in
            try await withBench(
                .file(bytes), retries: 1, stallTimeout: 2, connectTimeout: 2,
                proxies: ["all_proxy": "\(scheme)127.0.0.1:\(proxy.port)"]
            ) { bench in
                let report = try await bench.fetch(episode(bench))
                #expect(report.receipts.isEmpty && report.failures.count == 1)
                #expect(try bench.file() == nil)
            }
        }
    }
}
