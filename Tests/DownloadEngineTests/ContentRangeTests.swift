import Testing

@testable import DownloadEngine

/// RFC 9110 §14.4.
@Suite struct ContentRangeTests {
    @Test(
        arguments: [
            ("bytes 0-0/1", .bytes(first: 0, last: 0, total: 1)),
            ("bytes 400-999/1000", .bytes(first: 400, last: 999, total: 1000)),
            ("Bytes 400-999/1000", .bytes(first: 400, last: 999, total: 1000)),
            ("bytes 400-999/*", .bytes(first: 400, last: 999, total: nil)),
            ("bytes 400-599/1000", .bytes(first: 400, last: 599, total: 1000)),
            (
                "bytes 9007199254740993-9007199254740994/9007199254740995",
                .bytes(first: 9_007_199_254_740_993, last: 9_007_199_254_740_994, total: 9_007_199_254_740_995)
            ),
            ("bytes */1000", .unsatisfied(total: 1000)),
            ("bytes */0", .unsatisfied(total: 0)),
        ] as [(String, ContentRange)])
    func `a proper field is read`(field: String, range: ContentRange) {
        #expect(ContentRange(parsing: field) == range)
    }

    @Test(arguments: [
        "", "bytes", "bytes ", "bytes */*", "bytes *", "400-999/1000", "items 400-999/1000", "bytes=400-999/1000",
        "bytes 999-400/1000", "bytes 400-1000/1000", "bytes 400-999/999", "bytes 400-999/0", "bytes 400-999",
        "bytes 400/1000", "bytes -999/1000", "bytes 400-/1000", "bytes 400-999/", "bytes 400-999/1000/1000",
        "bytes /400-999/1000", "bytes 400-999//1000", "bytes 400-999/1000/", "bytes 400--999/1000",
        "bytes 400-999-1000/1000", "bytes +400-999/1000", "bytes -400-999/1000", "bytes 0x10-0x20/0x30",
        "bytes 400-999/1e3", "bytes 400-999/-1", "bytes ٤-٩/١٠", "bytes 4.0-9/10", "bytes a-b/c",
        "bytes 400-99999999999999999999/*", "bytes 99999999999999999999-99999999999999999999/*",
        "bytes */99999999999999999999", "bytes 0-9/10, bytes 20-29/30",
    ])
    func `anything else is unreadable`(field: String) {
        #expect(ContentRange(parsing: field) == .unreadable)
    }
}
