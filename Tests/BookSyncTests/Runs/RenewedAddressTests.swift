import BookModel
import Foundation
import Support
import Testing

@testable import BookSync

/// Addresses that expire within a run, and the catalog that is asked again.
@Suite(.limitedConcurrency) struct RenewedAddressTests {
    /// A catalog whose audio is only given to addresses of a listing that the answer lets pass.
    private func catalog(
        _ count: Int, _ refuses: @escaping @Sendable (_ listing: Int, ServerRequest) -> Bool
    ) -> ScriptedCatalog {
        var catalog = ScriptedCatalog.episodes(count)
        catalog.signature = Watched(0)
        for (path, script) in catalog.audio {
            catalog.audio[path] = ServerScript { request in
                let listing = request.query["listing"].flatMap { Int($0) } ?? 0
                return refuses(listing, request) ? Reply(status: 403) : script.answer(request)
            }
        }
        return catalog
    }

    @Test(arguments: [1, 4])
    func `case 24: many expired addresses cost one more listing`(jobs: Int) async throws {
        try await withRunBench(catalog(6) { listing, _ in listing < 2 }, jobs: jobs) { bench in
            let report = try await bench.run()
            #expect(report.failures.isEmpty, "\(report.failures)")
            #expect(report.summary.fetched == 6)
            #expect(bench.listings == 2)
            for section in 1...6 { #expect(try await bench.bytes(section) == ScriptedCatalog.bytes(section)) }
            #expect(bench.audioBytesSent == 240_000)
        }
    }

    @Test func `case 24: addresses that expire midway are renewed, and no byte comes twice`() async throws {
        var catalog = catalog(3) { listing, request in listing < 2 && request.number > 0 }
        for (path, script) in catalog.audio {
            catalog.audio[path] = ServerScript { request in
                var reply = script.answer(request)
                if request.number == 0 { reply.ending = .cutAfter(bytes: 15_000) }
                return reply
            }
        }
        try await withRunBench(catalog, jobs: 2, retries: 1) { bench in
            let report = try await bench.run()
            #expect(report.failures.isEmpty, "\(report.failures)")
            #expect(report.summary.bytesReceived == 120_000)
            #expect(bench.audioBytesSent == 120_000)
            #expect(bench.listings == 2)
            for section in 1...3 { #expect(try await bench.bytes(section) == ScriptedCatalog.bytes(section)) }
        }
    }

    @Test func `case 24: a server that refuses everything has the catalog read once more, not once for each`()
        async throws
    {
        var refusing = catalog(8) { _, _ in true }
        refusing.signature = nil
        try await withRunBench(refusing, jobs: 2) { bench in
            let report = try await bench.run()
            #expect(report.summary.failed == 8)
            #expect(report.failures.allSatisfy { $0.why.description.contains("refuses access (403)") })
            #expect(bench.listings == 2)
            #expect(bench.audioRequests.count == 8)
        }
    }

    @Test func `case 24: renewed addresses that are refused as well are not asked for without end`() async throws {
        try await withRunBench(catalog(4) { _, _ in true }, jobs: 2) { bench in
            let report = try await bench.run()
            #expect(report.summary.failed == 4)
            #expect(bench.listings == 2)
            #expect(bench.audioRequests.count == 8)
        }
    }
}
