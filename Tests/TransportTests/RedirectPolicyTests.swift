import BookModel
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

    @Test func `case 23: HTTPS never goes down to HTTP`() {
        let decision = RedirectPolicy.decide(
            status: 301, location: "http://a.example/x", from: ResourceAddress("https://a.example/y"), hops: 0)
        #expect(decision == .refuse("the redirect leads from HTTPS down to HTTP"))
    }

    @Test func `case 23: the sixth redirect in a row is refused`() {
        let decision = RedirectPolicy.decide(
            status: 302, location: "/x", from: ResourceAddress(Self.origin), hops: 5)
        #expect(decision == .refuse("more than \(5) redirects in a row"))
        let fifth = RedirectPolicy.decide(status: 302, location: "/x", from: ResourceAddress(Self.origin), hops: 4)
        #expect(fifth == .follow(ResourceAddress("http://a.example/x"), sameOrigin: true))
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
