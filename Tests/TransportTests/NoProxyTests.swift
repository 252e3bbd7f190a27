import BookModel
import Testing

@testable import Transport

/// Case 32 of the download cases: what the environment says about proxies, read as curl reads it.
@Suite struct NoProxyTests {
    @Test(
        arguments: [
            ("", "a.example", 80, false),
            ("*", "a.example", 80, true),
            ("*", "10.0.0.1", 80, true),
            // As curl has it, a star stands for all only when it stands alone.
            ("b.example,*", "a.example", 80, false),
            ("a.example", "a.example", 80, true),
            ("A.Example", "a.eXample", 80, true),
            ("a.example", "x.a.example", 80, true),
            (".a.example", "x.a.example", 80, true),
            (".a.example", "a.example", 80, true),
            ("a.example", "xa.example", 80, false),
            ("a.example", "a.example.org", 80, false),
            ("a.example.", "a.example", 80, true),
            ("a.example", "a.example.", 80, true),
            (".", "a.example", 80, false),
            ("b.example, a.example", "a.example", 80, true),
            ("b.example a.example\tc.example", "c.example", 80, true),
            (",,a.example,", "a.example", 80, true),
            ("a.example:8080", "a.example", 8080, true),
            ("a.example:8080", "a.example", 80, false),
            (".a.example:8080", "x.a.example", 8080, true),
            ("localhost", "127.0.0.1", 80, false),
            ("127.0.0.1", "localhost", 80, false),
            ("127.0.0.1", "127.0.0.1", 80, true),
            ("127.0.0.1:81", "127.0.0.1", 80, false),
            ("127.0.0.1", "127.0.0.10", 80, false),
            ("0.0.1", "127.0.0.1", 80, false),
            ("192.168.0.0/16", "192.168.200.3", 80, true),
            ("192.168.0.0/16", "192.169.0.3", 80, false),
            ("10.1.2.0/23", "10.1.3.255", 80, true),
            ("10.1.2.0/23", "10.1.4.0", 80, false),
            ("0.0.0.0/0", "8.8.8.8", 80, true),
            ("10.0.0.0/33", "10.0.0.1", 80, false),
            ("10.0.0.0/x", "10.0.0.0", 80, false),
            ("::1", "::1", 80, true),
            ("[::1]", "::1", 80, true),
            ("[::1]:8080", "::1", 8080, true),
            ("[::1]:8080", "::1", 80, false),
            ("0:0:0:0:0:0:0:1", "::1", 80, true),
            ("2001:db8::/32", "2001:db8:9::1", 80, true),
            ("[2001:db8::]/32", "2001:db9::1", 80, false),
            ("10.0.0.0/8", "::ffff:10.0.0.1", 80, false),
        ] as [(String, String, Int, Bool)])
    func `case 32: no_proxy covers what curl has it cover`(list: String, host: String, port: Int, isCovered: Bool) {
        #expect(NoProxyList(list).covers(host: host, port: port) == isCovered)
    }

    @Test(
        arguments: [
            ([:], "http://h/", nil),
            (["http_proxy": "p:1"], "http://h/", "http://p:1"),
            (["http_proxy": "p:1"], "https://h/", nil),
            (["https_proxy": "p:1"], "https://h/", "http://p:1"),
            (["HTTPS_PROXY": "p:1"], "https://h/", "http://p:1"),
            (["HTTP_PROXY": "p:1"], "http://h/", "http://p:1"),
            // httpoxy: of a CGI program anybody sets this one.
            (["HTTP_PROXY": "p:1", "REQUEST_METHOD": "GET"], "http://h/", nil),
            (["http_proxy": "p:1", "REQUEST_METHOD": "GET"], "http://h/", "http://p:1"),
            (["HTTP_PROXY": "p:1", "http_proxy": "q:1"], "http://h/", "http://q:1"),
            (["HTTP_PROXY": "p:1", "http_proxy": ""], "http://h/", "http://p:1"),
            (["all_proxy": "socks5://p:1"], "http://h/", "socks5://p:1"),
            (["ALL_PROXY": "socks5://p:1"], "https://h/", "socks5://p:1"),
            (["all_proxy": "socks5://p:1", "http_proxy": "q:2"], "http://h/", "http://q:2"),
            (["all_proxy": "p:1", "no_proxy": "h"], "http://h/", nil),
            (["all_proxy": "p:1", "NO_PROXY": "h"], "http://h/", nil),
            (["all_proxy": "p:1", "no_proxy": "h:8080"], "http://h:8080/", nil),
            (["all_proxy": "p:1", "no_proxy": "h:443"], "https://h/", nil),
            // curl sends even this machine's name to the proxy, unless told otherwise.
            (["all_proxy": "p:1"], "http://localhost/", "http://p:1"),
        ] as [([String: String], String, String?)])
    func `case 32: the environment names the proxy for an address`(
        environment: [String: String], address: String, proxy: String?
    ) throws {
        let target = try #require(RequestTarget(ResourceAddress(address)))
        #expect(try ProxyEnvironment(environment).proxy(for: target)?.description == proxy)
    }

    @Test(
        arguments: [
            ("p", "http://p:1080"), ("p:3128", "http://p:3128"), ("http://p:3128/", "http://p:3128"),
            ("socks5://[::1]:9050", "socks5://[::1]:9050"),
            ("socks://p", "socks5h://p:1080"), ("SOCKS5h://h:1", "socks5h://h:1"),
            ("http://user:p%40ss:w@p:1", "http://***@p:1"), ("u@p:1", "http://***@p:1"),
        ])
    func `case 32: a proxy's address is read, and shown without its secrets`(text: String, shown: String) throws {
        #expect(try ProxyAddress(parsing: text).description == shown)
    }

    @Test func `case 32: a proxy's user and password are decoded`() throws {
        let proxy = try ProxyAddress(parsing: "http://us%3Aer:p%40ss:w@p:1")
        #expect(proxy.authorization == .basic(user: Secret("us:er"), password: Secret("p@ss:w")))
        #expect(
            try ProxyAddress(parsing: "http://Aladdin:open%20sesame@p").authorization?.field
                == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    }

    @Test(arguments: [
        "ftp://p", "socks4://p:1", "https://p:1", "socks5h://u:SECRET@h:1", "http://", "http://:80", "http://p:0",
        "http://p:65536", "http://p:x", "http://a b",
        "http://[::1:80", "http://u%zz:SECRET@p", "SECRET://p",
    ])
    func `case 32: what is no proxy is refused without telling what it is`(text: String) {
        #expect {
            try ProxyAddress(parsing: text)
        } throws: { error in
            let why = (error as? ProxyAddress.Unreadable)?.why
            return why?.description.isEmpty == false && why?.description.contains("SECRET") == false
        }
    }
}
