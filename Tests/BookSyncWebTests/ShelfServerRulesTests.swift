import BookModel
import BookSyncWeb
import Testing

/// Whom the server answers, and where it listens.
@Suite struct ShelfServerRulesTests {
    @Test(arguments: [
        "127.0.0.1", "127.0.0.1:8731", "127.8.9.10:1", "localhost", "LocalHost:80", "[::1]", "[::1]:8731",
        "books.example", "Books.Example:443",
    ])
    func `a name of this machine, or of the public address, is answered`(_ authority: String) {
        #expect(HostRule(publicURL: "https://books.example/shelf").allows(authority))
    }

    @Test(arguments: [
        "", "evil.example", "evil.example:8731", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1",
        "0.0.0.0", "[::]", "[::1", "::1", "127.0.0.1:x", "127.0.0.1:80:80", "localhost@evil.example", "2130706433",
        "0x7f.1", "127.1", "localhost ", "localhost.", "[::1]evil", "books.example.evil",
    ])
    func `any other name is not`(_ authority: String) {
        #expect(!HostRule(publicURL: "https://books.example/shelf").allows(authority))
    }

    @Test(arguments: [
        "nas", "NAS:8731", "nas.local", "nas.home.lan:80", "books.lan", "192.168.1.2:8731", "[fd00::1]:8731", "8.8.8.8",
        "localhost:1", "books.example", "10.0.0.1", "[fe80::1]",
    ])
    func `listening to others, own names and numeric addresses are answered`(_ authority: String) throws {
        for target in ["0.0.0.0:8731", "[::]:8731", "192.168.1.2:8731"] {
            let rule = HostRule(
                target: try ListenTarget(parsing: target), publicURL: "https://books.example", hosts: ["Books.lan"],
                ownName: "nas.home.lan")
            #expect(rule.allows(authority))
        }
    }

    @Test(arguments: [
        "evil.example", "nas.evil.example", "home.lan", "nas.localhost", "lan", ".local", "", "2130706433", "0x7f.1",
        "127.1", "1.2.3.4.evil.example", "[fd00::1", "fd00::1", "nas@evil.example", "192.168.1.2:80:80", "books.lan.",
    ])
    func `listening to others, any other name is refused all the same`(_ authority: String) throws {
        let rule = HostRule(
            target: try ListenTarget(parsing: "0.0.0.0:8731"), publicURL: nil, hosts: ["books.lan"],
            ownName: "nas.home.lan")
        #expect(!rule.allows(authority))
    }

    @Test func `listening to this machine alone, its name on the network and other numbers are refused`() throws {
        for target in ["127.0.0.1:8731", "[::1]:0", "unix:/s"] {
            let rule = HostRule(
                target: try ListenTarget(parsing: target), publicURL: "https://[fd00::2]/x", hosts: ["books.lan"],
                ownName: "nas")
            for name in ["nas", "nas.local", "192.168.1.2", "[fd00::1]"] { #expect(!rule.allows(name)) }
            for name in ["books.lan:80", "localhost", "[fd00::2]:443"] { #expect(rule.allows(name)) }
        }
    }

    @Test(arguments: ["127.0.0.1:8731", "8731", "[::1]:0", "localhost:80", "unix:/run/booksync.sock", "127.3.2.1:1"])
    func `only this machine reaches the place`(_ text: String) throws {
        let target = try ListenTarget(parsing: text)
        #expect(target.isThisMachine)
        try target.requireGuard(asksWhoComes: false, names: HostRule(target: target, publicURL: nil))
    }

    @Test(arguments: ["0.0.0.0:8731", "[::]:8731", "192.168.1.2:80", "books.example:80", "[fe80::1]:1"])
    func `a place that others reach needs a password or a token`(_ text: String) throws {
        try Self.expectGuard(try ListenTarget(parsing: text), HostRule(publicURL: nil))
    }

    @Test(arguments: [
        ("https://books.example", []), (nil, ["books.lan"]), ("http://192.168.1.2:81", []),
        ("http://localhost", ["nas"]),
    ])
    func `a place that others reach through a proxy needs one as well`(_ publicURL: String?, _ hosts: [String]) throws {
        for text in ["127.0.0.1:8731", "unix:/run/booksync.sock"] {
            try Self.expectGuard(try ListenTarget(parsing: text), HostRule(publicURL: publicURL, hosts: hosts))
        }
    }

    private static func expectGuard(_ target: ListenTarget, _ names: HostRule) throws {
        let failure = #expect(throws: Failure.self) { try target.requireGuard(asksWhoComes: false, names: names) }
        #expect(failure?.kind == .usage)
        #expect(failure?.description.contains("booksync serve --set-password") == true)
        try target.requireGuard(asksWhoComes: true, names: names)
    }

    @Test func `a socket needs a path`() throws {
        #expect(throws: Failure.self) { try ListenTarget(parsing: "unix:") }
        #expect(try ListenTarget(parsing: "unix:a b").description == "unix:a b")
    }
}
