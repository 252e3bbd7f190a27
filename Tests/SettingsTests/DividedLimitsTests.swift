import BookModel
import Support
import Testing
import Transport

@testable import Settings

@Suite(.limitedConcurrency) struct DividedLimitsTests {
    private let configuration = """
        downloads: { jobs: 6, jobs-per-host: 9, limit-rate: 8M }
        sources:
          kting: { type: feed, limit-rate: 1M }
          other: { type: feed }
        """

    @Test func `workers that run at once have a part each of what a host allows`() async throws {
        let whole = try await loadConfiguration(configuration)
        let part = try whole.divided(among: 4, waitsIn: "/mirror/.waits")
        #expect(part.downloads.jobsPerHost == 2 && part.downloads.jobs == 6)
        #expect(part.downloads.limitRate == 2_000_000)
        #expect(part.sources["kting"]?.limitRate == 250_000 && part.sources["other"]?.limitRate == 0)
        #expect(part.transportOptions.sharedWaits == "/mirror/.waits" && whole.transportOptions.sharedWaits == nil)
    }

    @Test func `more workers than a host allows requests at once are refused`() async throws {
        let failure = try await #require(throws: Failure.self) {
            try await loadConfiguration(configuration).divided(among: 10, waitsIn: "/mirror/.waits")
        }
        #expect(failure.kind == .usage && failure.remedy?.description.contains("--concurrent") == true)
    }
}
