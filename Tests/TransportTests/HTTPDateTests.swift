import Foundation
import Testing
import Transport

@Suite struct HTTPDateTests {
    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_714_521_600, "Wed, 01 May 2024 00:00:00 GMT"),
            (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"), (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
        ])
    func `a time is written and read back`(seconds: Int64, text: String) {
        #expect(HTTPDate.text(seconds) == text)
        #expect(HTTPDate.seconds(parsing: text) == seconds)
    }

    @Test func `every day of four centuries is read back`() {
        for day in stride(from: Int64(-100_000), to: 100_000, by: 7) {
            let seconds = day * 86400 + 12345
            #expect(HTTPDate.seconds(parsing: HTTPDate.text(seconds)) == seconds)
        }
    }

    @Test(arguments: ["Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
    func `the obsolete forms are read`(text: String) {
        #expect(HTTPDate.seconds(parsing: text) == 784_111_777)
    }

    @Test(
        arguments: [
            "", "now", "0", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 PST",
            "Sun, 32 Nov 1994 08:49:37 GMT",
            "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
            "Sun, 06 Nov 99999999999999999999 08:49:37 GMT",
        ])
    func `what is no time is none`(text: String) {
        #expect(HTTPDate.seconds(parsing: text) == nil)
    }
}
