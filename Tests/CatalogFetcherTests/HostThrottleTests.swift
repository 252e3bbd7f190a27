import BookModel
import Logging
import Support
import Testing
import Transport

@testable import CatalogFetcher

@Suite(.limitedConcurrency) struct HostThrottleTests {
    @Test func `turns are free until somebody is told otherwise`() async {
        let pace = HostThrottle()
        for _ in 1...3 { #expect(await pace.takeTurn() == .zero) }
        await pace.widen(to: .seconds(100))
        #expect(await pace.takeTurn() == .zero)
        let waits = (await pace.takeTurn(), await pace.takeTurn())
        #expect(waits.0 > .seconds(90) && waits.0 <= .seconds(100))
        #expect(waits.1 > .seconds(190) && waits.1 <= .seconds(200))
    }

    @Test func `a gap never becomes smaller`() async {
        let pace = HostThrottle()
        await pace.widen(to: .seconds(100))
        await pace.widen(to: .seconds(1))
        _ = await pace.takeTurn()
        #expect(await pace.takeTurn() > .seconds(90))
    }

    @Test func `a server that wants to be left alone for hours is asked nothing more`() async throws {
        try await withServer(.always(.text("", status: 429, headers: ["Retry-After": "7200"]))) { server in
            try await withHTTPTransport(options: TransportOptions(), logger: Logger(label: "test")) { transport in
                let (pace, waits) = (HostThrottle(), RecordedWaits())
                for id in ["1", "2"] {
                    let source = BookResourceSource(
                        settings: BookResourceSettings(listAddress: server.address("/list")),
                        client: CatalogClient(
                            transport: transport, pace: pace, pause: { try await waits.pause($0) }))
                    let failure = await #expect(throws: Failure.self) {
                        _ = try await source.list(BookIdentity(source: "s", id: id)) { _ in }
                    }
                    #expect(failure?.kind == .catalogUnavailable)
                    #expect(failure?.why.description.contains("the server asked to retry after") == true)
                }
                #expect(waits.all.isEmpty && server.record.requests.count == 1)
            }
        }
    }

    @Test func `what was read already is taken from a server that wants to be left alone`() async throws {
        let page = "{\"status\":0,\"sections\":1,\"list\":[{\"id\":7,\"section\":1,\"name\":\"a\"}]}"
        try await withServer(.always(.text(page))) { server in
            var options = TransportOptions()
            options.readResponses = ReadResponses()
            try await withHTTPTransport(options: options, logger: Logger(label: "test")) { transport in
                let request = HTTPRequest(.get, server.address("/list?bookId=1"))
                let answer = try await transport.send(request)
                transport.keep(answer, body: try await answer.collect(upTo: 1000), to: request)
                let pace = HostThrottle()
                await pace.close(for: 7200)
                let client = CatalogClient(transport: transport, pace: pace)
                let subject = ErrorContext(book: BookIdentity(source: "s", id: "1"), part: "page 1")
                let read = try await client.fetch(request, for: subject) { .document($0.count) }.document
                #expect(read == page.utf8.count && server.record.requests.count == 1)
                await #expect(throws: Failure.self) {
                    _ = try await client.fetch(request, for: subject) { .document($0.count) }
                }
            }
        }
    }

    @Test func `what one listing is asked to wait for, the others of the server wait for too`() async throws {
        let script = ServerScript { request in
            guard request.query["bookId"] == "1", request.number == 0 else {
                return .text("{\"status\":0,\"sections\":1,\"list\":[{\"id\":7,\"section\":1,\"name\":\"a\"}]}")
            }
            return .text("", status: 429, headers: ["Retry-After": "100"])
        }
        try await withServer(script) { server in
            let options = TransportOptions(connectTimeout: 60, stallTimeout: 60)
            try await withHTTPTransport(options: options, logger: Logger(label: "test")) { transport in
                let (pace, first, second) = (HostThrottle(), RecordedWaits(), RecordedWaits())
                func list(_ id: String, _ waits: RecordedWaits) async throws {
                    let source = BookResourceSource(
                        settings: BookResourceSettings(listAddress: server.address("/list")),
                        client: CatalogClient(
                            transport: transport, pace: pace, pause: { try await waits.pause($0) }))
                    _ = try await source.list(BookIdentity(source: "s", id: id)) { _ in }
                }
                try await list("1", first)
                #expect(first.all.first == .seconds(100))
                try await list("2", second)
                #expect(try #require(second.all.first) > .seconds(90))
            }
        }
    }
}
