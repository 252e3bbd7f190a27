import BookModel
import Testing

@testable import Transport

@Suite struct NetrcTests {
    private static func basic(_ user: String, _ password: String) -> Authorization {
        .basic(user: Secret(user), password: Secret(password))
    }

    @Test(
        arguments: [
            ("machine h login me password pw", "h", basic("me", "pw")),
            ("machine h\n\tlogin me\n\tpassword pw\n", "H", basic("me", "pw")),
            ("machine h password pw account x login me", "h", basic("me", "pw")),
            ("machine h login me password \"a b\\\"c\\\\\\td\"", "h", basic("me", "a b\"c\\\td")),
            ("machine h login me password p#w # and a remark\nmachine i login x password y", "i", basic("x", "y")),
            ("# login no password no\nmachine h login me password #pw", "h", basic("me", "#pw")),
            ("machine h login me password pw\nmachine h login other password other", "h", basic("me", "pw")),
            (
                "machine a login x password y\nmacdef init\n  machine h login no\n\nmachine h login me password pw",
                "h",
                basic("me", "pw")
            ),
            ("machine a login x password y\nmacdef init\ncd /\n", "h", nil),
            ("default login anonymous password me@here", "h", basic("anonymous", "me@here")),
            ("default login x password y\nmachine h login me password pw", "h", basic("me", "pw")),
            ("machine h login key", "h", basic("key", "")), ("machine h", "h", nil),
            ("machine h.example login me password pw", "h", nil), ("", "h", nil),
            ("machine machine login login password password", "machine", basic("login", "password")),
        ] as [(String, String, Authorization?)])
    func `users and passwords are found by their machine`(text: String, host: String, found: Authorization?) throws {
        #expect(try Netrc(parsing: text).authorization(for: host, orDefault: true) == found)
    }

    @Test func `the default counts only where it may`() throws {
        let netrc = try Netrc(parsing: "default login me password pw")
        #expect(netrc.authorization(for: "h", orDefault: false) == nil)
        #expect(netrc.hasPasswords)
    }

    @Test(arguments: [
        ("machine h login me SECRET pw", 1, "no keyword"), ("login me password SECRET", 1, "before any 'machine'"),
        ("machine h\nlogin", 2, "'login' has nothing after it"),
        ("machine h\nlogin me\npassword \"SECRET\n", 3, "not closed"),
    ])
    func `what is no netrc file is told of without what it holds`(text: String, line: Int, why: String) throws {
        let failure = try #require(throws: UnreadableLine.self) { try Netrc(parsing: text) }
        #expect(failure.line == line && failure.why.description.contains(why), "\(failure)")
        #expect(!"\(failure)".contains("SECRET"))
    }
}
