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

    @Test(arguments: ["127.0.0.1:8731", "8731", "[::1]:0", "localhost:80", "unix:/run/booksync.sock", "127.3.2.1:1"])
    func `only this machine reaches the place`(_ text: String) throws {
        try ListenPlace(parsing: text).requireThisMachine()
    }

    @Test(arguments: ["0.0.0.0:8731", "[::]:8731", "192.168.1.2:80", "books.example:80", "[fe80::1]:1"])
    func `a place that others reach is refused`(_ text: String) throws {
        let place = try ListenPlace(parsing: text)
        let failure = #expect(throws: Failure.self) { try place.requireThisMachine() }
        #expect(failure?.kind == .usage)
        #expect(failure?.description.contains("password") == true)
    }

    @Test func `a socket needs a path`() throws {
        #expect(throws: Failure.self) { try ListenPlace(parsing: "unix:") }
        #expect(try ListenPlace(parsing: "unix:a b").description == "unix:a b")
    }
}
