import Testing

@testable import Transport

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
                "bytes 1099511627774-1099511627775/1099511627776",
                .bytes(first: 1_099_511_627_774, last: 1_099_511_627_775, total: 1_099_511_627_776)
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
        "bytes 0-1/1099511627777", "bytes 0-9223372036854775807/*", "bytes */9007199254740993",
        "bytes */99999999999999999999", "bytes 0-9/10, bytes 20-29/30",
    ])
    func `anything else is unreadable`(field: String) {
        #expect(ContentRange(parsing: field) == .unreadable)
    }
}
