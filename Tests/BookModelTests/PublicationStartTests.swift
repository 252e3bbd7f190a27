import BookModel
import Foundation
import Testing

@Suite struct PublicationStartTests {
    private let now = Date(timeIntervalSince1970: 1_795_262_400)  // 2026-11-21T12:00:00Z

    @Test(
        arguments: [
            ("2026-11-21", "2026-11-21T00:00:00Z"), ("2024-02-29", "2024-02-29T00:00:00Z"),
            ("1970-01-01", "1970-01-01T00:00:00Z"), ("30d", "2026-10-22T12:00:00Z"), ("12h", "2026-11-21T00:00:00Z"),
            ("4w", "2026-10-24T12:00:00Z"), ("1.5d", "2026-11-20T00:00:00Z"),
        ] as [(String, String)])
    func `a day begins at midnight UTC, and an age counts from now`(text: String, time: String) throws {
        let start = try PublicationStart(parsing: text)
        #expect(start.time(now: now).formatted(.iso8601) == time)
        #expect(start.description == text)
    }

    @Test(arguments: [
        "", "30", "5m", "10s", "0d", "-3d", "yesterday", "2023-02-29", "2024-13-01", "24-01-01", "2024-1-1",
        "2024-01-01T00:00", "९d", "1e9w", "99999999999w",
    ])
    func `anything else is a usage failure that says how to write it`(text: String) throws {
        let failure = try #require(throws: Failure.self) { try PublicationStart(parsing: text) }
        #expect(failure.kind == .usage && failure.remedy?.description.contains("30d") == true)
    }
}
