import Testing

@testable import BookSyncWeb

/// What clients call the server, and where they are sent.
@Suite struct ClientViewTests {
    private static let plain = ClientView(authority: "nas:8731", basePath: "/shelf", publicURL: nil)
    private static let proxied = ClientView(
        authority: "Books.Example", basePath: "", publicURL: "https://books.example/x/")

    @Test func `a client that comes directly, and one that comes through the proxy`() {
        #expect(Self.plain.root == "/shelf" && Self.plain.origins == ["http://nas:8731"] && !Self.plain.isSecure)
        #expect(
            Self.plain.cookie("a", "1", seconds: 5) == "a=1; Path=/shelf; Max-Age=5; HttpOnly; SameSite=Lax")
        #expect(Self.proxied.root == "/x" && Self.proxied.origins == ["https://books.example"])
        #expect(
            Self.proxied.cookie("a", "1", seconds: 0)
                == "__Host-a=1; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure")
        let beside = ClientView(authority: "127.0.0.1:80", basePath: "", publicURL: "https://books.example:444/x")
        #expect(beside.root.isEmpty && !beside.isSecure)
        #expect(beside.origins == ["http://127.0.0.1", "https://books.example:444"])
        let same = ClientView(authority: "b.example:444", basePath: "/x", publicURL: "https://b.example:444/x")
        #expect(same.cookieName("a") == "__Secure-a" && same.cookiePath == "/x" && same.isSecure)
        let six = ClientView(authority: "[fd00::1]:8731", basePath: "", publicURL: "http://[fd00::1]:8731")
        #expect(six.origins == ["http://[fd00::1]:8731"] && six.root.isEmpty)
    }

    @Test(arguments: ["/shelf/", "/shelf/books/a/b?page=2", "/shelf/search?q=%2F%2Fevil&x=http://evil", "/shelf/a#b"])
    func `the way back is a path of our own`(_ path: String) {
        #expect(Self.plain.returnURL(path) == path)
    }

    @Test(arguments: [
        nil, "", "/", "shelf/", "//evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example",
        "https:evil", "/shelf", "/shelfish/", "/shelf/../x", "/shelf/%2e%2e/x", "/shelf/.%2E", "/shelf//evil.example",
        "/shelf/\t/evil", "/shelf/a\r\nSet-Cookie: x=1", "/shelf/\u{0}", "/shelf/听", "/shelf/a b", "/shelf\\..\\x",
        "javascript:alert(1)", "/\t/evil.example", " /shelf/", "/shelf/a\\b", "///evil.example", "/shelf/./x",
    ])
    func `what leads elsewhere leads to the shelf`(_ path: String?) {
        #expect(Self.plain.returnURL(path) == "/shelf/")
        #expect(ClientView(authority: "nas", basePath: "", publicURL: nil).returnURL(path.map { $0 + "//" }) == "/")
    }

    @Test func `the way to the login page keeps where it was gone to`() {
        #expect(Self.plain.loginPath(for: "/shelf/", basePath: "/shelf") == "/shelf/login")
        #expect(Self.plain.loginPath(for: "", basePath: "/shelf") == "/shelf/login")
        #expect(
            Self.plain.loginPath(for: "/shelf/search?q=a&b", basePath: "/shelf")
                == "/shelf/login?return=/shelf/search%3Fq%3Da%26b")
        #expect(Self.proxied.loginPath(for: "/queue", basePath: "") == "/x/login?return=/x/queue")
    }
}
