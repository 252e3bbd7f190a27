import BookModel
import Testing

@testable import Transport

@Suite struct CookieFileTests {
    private static func field(_ lines: [String], for address: String, now: Double = 1000) throws -> String? {
        let file = try CookieFile(parsing: lines.joined(separator: "\n"))
        return file.field(for: try #require(RequestTarget(ResourceAddress(address))), now: now)
    }

    @Test(
        arguments: [
            // The host itself, and what is below it only where the flag says so.
            ("h.example\tFALSE\t/\tFALSE\t0\ta\t1", "http://h.example/x", "a=1"),
            ("h.example\tFALSE\t/\tFALSE\t0\ta\t1", "http://w.h.example/x", nil),
            (".h.example\tTRUE\t/\tFALSE\t0\ta\t1", "http://w.h.example/x", "a=1"),
            (".h.example\tTRUE\t/\tFALSE\t0\ta\t1", "http://H.EXAMPLE/x", "a=1"),
            (".h.example\tTRUE\t/\tFALSE\t0\ta\t1", "http://evilh.example/x", nil),
            (".h.example\tFALSE\t/\tFALSE\t0\ta\t1", "http://w.h.example/x", nil),
            ("0.0.1\tTRUE\t/\tFALSE\t0\ta\t1", "http://127.0.0.1/x", nil),
            ("127.0.0.1\tTRUE\t/\tFALSE\t0\ta\t1", "http://127.0.0.1:8080/x", "a=1"),
            // Paths end at a slash.
            ("h.example\tFALSE\t/books\tFALSE\t0\ta\t1", "http://h.example/books", "a=1"),
            ("h.example\tFALSE\t/books\tFALSE\t0\ta\t1", "http://h.example/books/1?q=/x", "a=1"),
            ("h.example\tFALSE\t/books/\tFALSE\t0\ta\t1", "http://h.example/books/1", "a=1"),
            ("h.example\tFALSE\t/books\tFALSE\t0\ta\t1", "http://h.example/bookshelf", nil),
            ("h.example\tFALSE\t/books\tFALSE\t0\ta\t1", "http://h.example/?/books", nil),
            // Over TLS only.
            ("h.example\tFALSE\t/\tTRUE\t0\ta\t1", "http://h.example/", nil),
            ("h.example\tFALSE\t/\tTRUE\t0\ta\t1", "https://h.example/", "a=1"),
            // Of this session; gone; still good.
            ("h.example\tFALSE\t/\tFALSE\t0\ta\t1", "http://h.example/", "a=1"),
            ("h.example\tFALSE\t/\tFALSE\t1000\ta\t1", "http://h.example/", nil),
            ("h.example\tFALSE\t/\tFALSE\t1001.5\ta\t1", "http://h.example/", "a=1"),
            ("#HttpOnly_h.example\tFALSE\t/\tFALSE\t0\ta\t1", "http://h.example/", "a=1"),
            ("# h.example\tFALSE\t/\tFALSE\t0\ta\t1", "http://h.example/", nil),
            ("h.example\tfalse\t/\tfalse\t0\ta\tx=y \"z\"", "http://h.example/", "a=x=y \"z\""),
            ("h.example\tFALSE\t/\tFALSE\t0\ta\t", "http://h.example/", "a="),
        ] as [(String, String, String?)])
    func `a cookie goes where RFC 6265 lets it`(line: String, address: String, field: String?) throws {
        #expect(try Self.field(["# Netscape HTTP Cookie File", "", line], for: address) == field)
    }

    @Test func `longer paths come first, and the later one of two of a name counts`() throws {
        let lines = [
            "\u{FEFF}h.example\tFALSE\t/\tFALSE\t0\ta\told\r", "h.example\tFALSE\t/\tFALSE\t0\tb\t2\r",
            "h.example\tFALSE\t/x\tFALSE\t0\ta\tdeep\r", "h.example\tFALSE\t/\tFALSE\t0\ta\tnew\r",
        ]
        #expect(try Self.field(lines, for: "http://h.example/x/y") == "a=deep; b=2; a=new")
    }

    @Test(arguments: [
        ("h.example TRUE / FALSE 0 a SECRET", 1, "seven fields"), ("\n[{\"name\": \"SECRET\"}]", 2, "seven fields"),
        ("h\tperhaps\t/\tFALSE\t0\ta\tSECRET", 1, "neither TRUE nor FALSE"),
        ("h\tTRUE\t/\tFALSE\ttomorrow\ta\tSECRET", 1, "no time"),
        ("\tTRUE\t/\tFALSE\t0\ta\tSECRET", 1, "none of a cookie"),
        ("h\tTRUE\t/\tFALSE\t0\ta\tSECRET;b", 1, "none of a cookie"),
        ("h\tTRUE\t/\tFALSE\t0\ta\u{1}\tSECRET", 1, "none of a cookie"),
    ])
    func `a line that is no cookie is told of without what it holds`(text: String, line: Int, why: String) throws {
        let failure = try #require(throws: UnreadableLine.self) { try CookieFile(parsing: text) }
        #expect(failure.line == line && failure.why.description.contains(why))
        #expect(!"\(failure)".contains("SECRET"))
    }
}
