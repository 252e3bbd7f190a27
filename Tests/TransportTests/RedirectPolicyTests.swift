import BookModel
import NIOHTTP1
import Testing

@testable import Transport

@Suite struct RedirectPolicyTests {
    private static let origin = "http://a.example/one/two.mp3"

    @Test(arguments: [
        ("http://b.example/x", "http://b.example/x", false), ("/x?y=1", "http://a.example/x?y=1", true),
        ("three.mp3", "http://a.example/one/three.mp3", true), ("//b.example:81/x", "http://b.example:81/x", false),
        ("http://a.example:81/x", "http://a.example:81/x", false),
        ("https://a.example/x", "https://a.example/x", false),
        ("http://A.example:80/x", "http://A.example:80/x", true),
    ])
    func `case 23: a location is resolved, and another origin told apart`(
        location: String, target: String, isSame: Bool
    ) {
        #expect(
            RedirectPolicy.decide(status: 302, location: location, from: ResourceAddress(Self.origin), hops: 0)
                == .follow(ResourceAddress(target), sameOrigin: isSame))
    }

    @Test(arguments: ["file:///etc/passwd", "javascript:alert(1)", "ftp://a.example/x", "http://", "http:///x"])
    func `case 23: nothing but http and https is followed`(location: String) {
        let decision = RedirectPolicy.decide(
            status: 302, location: location, from: ResourceAddress(Self.origin), hops: 0)
        guard case .refuse = decision else {
            Issue.record("\(location) gave \(decision)")
            return
        }
    }

    @Test(
        arguments: [
            (nil, false, false), (nil, true, false), (.refuse, false, false), (.withoutCredentials, false, true),
            (.withoutCredentials, true, false), (.allow, true, true),
        ] as [(DowngradeRule?, Bool, Bool)])
    func `case 23: HTTPS goes down to HTTP where the rule lets it, and never for a catalog`(
        rule: DowngradeRule?, sentCredentials: Bool, isFollowed: Bool
    ) {
        let decision = RedirectPolicy.decide(
            status: 301, location: "http://a.example/x", from: ResourceAddress("https://a.example/y"), hops: 2,
            downgrade: rule, sentCredentials: sentCredentials)
        switch decision {
        case .follow(let target, let sameOrigin):
            #expect(isFollowed && target == ResourceAddress("http://a.example/x") && !sameOrigin)
        case .refuse(let why, let remedy):
            #expect(!isFollowed && (remedy == nil) == (rule == nil))
            #expect(
                why.description
                    == "redirect 3 leads from HTTPS down to HTTP, from https://a.example/y to http://a.example/x")
        case .accept: Issue.record("not taken for a redirect")
        }
    }

    @Test func `case 23: the twenty-first redirect in a row is refused`() {
        let decision = RedirectPolicy.decide(
            status: 302, location: "/x", from: ResourceAddress(Self.origin), hops: 20)
        #expect(
            decision
                == .refuse("more than \(20) redirects in a row, the last of them from \(ResourceAddress(Self.origin))"))
        let last = RedirectPolicy.decide(status: 302, location: "/x", from: ResourceAddress(Self.origin), hops: 19)
        #expect(last == .follow(ResourceAddress("http://a.example/x"), sameOrigin: true))
    }

    @Test(
        arguments: [
            ("a=1", "http://h.example/books/x", "a=1"), ("a=1", "http://h.example/", nil),
            ("a=1; Path=/", "http://h.example/", "a=1"), ("a=1; domain=example; path=/", "http://example/", nil),
            ("a=1; Path=/", "http://w.h.example/", nil),
            ("a=1; Path=/", "https://h.example/", "a=1"), ("a=1; Path=/; Max-Age=0", "http://h.example/", nil),
            ("a=1; Path=/; Expires=Thu, 01-Jan-1970 00:00:01 GMT", "http://h.example/", nil),
            ("a=1; Path=/; Expires=Thu, 01-Jan-1970 00:00:01 GMT; Max-Age=9", "http://h.example/", "a=1"),
            ("=1", "http://h.example/books/x", nil), ("a", "http://h.example/books/x", nil),
            ("a=\u{1}", "http://h.example/books/x", nil),
        ] as [(String, String, String?)])
    func `case 23: a cookie of a redirect goes to its own host and path`(field: String, address: String, sent: String?)
        throws
    {
        var cookies = CookieFile(cookies: [])
        cookies.set(field, by: try #require(RequestTarget(ResourceAddress("http://h.example/books/1"))), now: 1000)
        #expect(cookies.field(for: try #require(RequestTarget(ResourceAddress(address))), now: 1000) == sent)
    }

    @Test func `case 23: a cookie that came over HTTPS never goes over HTTP, and a newer one takes its place`() throws {
        let secure = try #require(RequestTarget(ResourceAddress("https://h.example/1")))
        let plain = try #require(RequestTarget(ResourceAddress("http://h.example/1")))
        var cookies = CookieFile(cookies: [])
        cookies.set("a=1", by: secure, now: 1000)
        #expect(cookies.field(for: plain, now: 1000) == nil)
        cookies.set("a=2", by: secure, now: 1000)
        #expect(cookies.field(for: secure, now: 1000) == "a=2")
    }

    private static let basic: HTTPHeaders = ["Authorization": "Basic eA=="]

    /// From where to where, with which credentials, and those that are sent on; nil where the redirect is refused.
    @Test(
        arguments: [
            ("http://a.example/y", "http://a.example/x", basic, basic),
            ("http://a.example/y", "http://b.example/x", basic, [:]),
            ("https://a.example/y", "http://b.example/x", basic, nil),
            ("https://a.example/y", "http://b.example/x", [:], [:]),
            ("https://a.example/y?id=chapter-1", "http://b.example/x?y=chapter-1", [:], [:]),
            ("https://a.example/y?key=chapter-1", "http://b.example/x?y=chapter-1", [:], nil),
        ] as [(String, String, HTTPHeaders, HTTPHeaders?)])
    func `case 23: credentials stay within their origin, and where there were some the chain stays on HTTPS`(
        address: String, location: String, own: HTTPHeaders, sentOn: HTTPHeaders?
    ) throws {
        var chain = RedirectChain(at: ResourceAddress(address))
        let target = try #require(RequestTarget(chain.address))
        let first = try chain.credentials(adding: own, to: target, now: 0)
        #expect(first == own)
        let head = HTTPResponseHead(version: .http1_1, status: .found, headers: ["Location": location])
        let isFollowed = try? chain.follow(head, of: target, downgrade: .withoutCredentials, now: 0)
        #expect((isFollowed == true) == (sentOn != nil))
        guard isFollowed == true else { return }
        #expect(chain.address == ResourceAddress(location) && chain.hops == 1)
        let next = try #require(RequestTarget(chain.address))
        let second = try chain.credentials(adding: own, to: next, now: 0)
        #expect(second == sentOn)
    }

    @Test(arguments: 299...310)
    func `only the statuses that name another address are redirects`(status: Int) {
        let decision = RedirectPolicy.decide(
            status: status, location: "/x", from: ResourceAddress(Self.origin), hops: 0)
        let isRedirect = [301, 302, 303, 307, 308].contains(status)
        #expect(
            decision == (isRedirect ? .follow(ResourceAddress("http://a.example/x"), sameOrigin: true) : .accept))
    }

    @Test(arguments: [
        ("https://a.example/y", "https://a.example:443/x", true),
        ("https://a.example/y", "https://a.example:80/x", false),
        ("https://a.example:444/y", "https://A.example:444/x", true),
        ("http://a.example/y", "https://a.example:80/x", false), ("HTTP://a.example/y", "http://a.example:80/x", true),
    ])
    func `an origin is scheme, host and port, the scheme's own port included`(
        from: String, location: String, isSame: Bool
    ) {
        let decision = RedirectPolicy.decide(status: 308, location: location, from: ResourceAddress(from), hops: 0)
        #expect(decision == .follow(ResourceAddress(location), sameOrigin: isSame))
    }

    @Test(arguments: [(200, "/x"), (304, "/x"), (302, nil), (302, "")] as [(Int, String?)])
    func `an answer that leads nowhere is the answer`(status: Int, location: String?) {
        #expect(
            RedirectPolicy.decide(status: status, location: location, from: ResourceAddress(Self.origin), hops: 0)
                == .accept)
    }

    @Test(arguments: [
        ("http://h/第3集.mp3", "http://h/%E7%AC%AC3%E9%9B%86.mp3"),
        ("http://h/a b.m4a?s=x%2By", "http://h/a%20b.m4a?s=x%2By"),
        (" \u{FEFF}\thttp://h/a \n", "http://h/a"), ("http://h/100%.mp3", "http://h/100%25.mp3"),
        ("http://h/a#part", "http://h/a"), ("http://h/{a}|b", "http://h/%7Ba%7D%7Cb"),
        ("http://h/%41", "http://h/%41"), ("http://h/%4", "http://h/%254"), ("http://h/%4g", "http://h/%254g"),
        ("http://h/%g4", "http://h/%25g4"), ("http://h/%", "http://h/%25"), ("http://h/!~", "http://h/!~"),
        ("http://h/\u{7F}\u{1}a", "http://h/%7F%01a"), ("\r\n http://h/a!\u{1} \t", "http://h/a!"),
    ])
    func `an address goes over the wire as a URL may`(text: String, wire: String) {
        #expect(ResourceAddress(text).wireText == wire)
    }
}
