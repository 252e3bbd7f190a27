import BookModel
import Logging
import Support
import Testing

@testable import Transport

@Suite(.limitedConcurrency) struct AddressScopeTests {
    @Test(arguments: [
        "127.0.0.1", "127.8.9.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "10.0.0.1", "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "::1", "[::1]", "::",
        "fe80::1", "fe80::1%eth0", "fd00::1", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.1.2.3",
        "64:ff9b::7f00:1", "::127.0.0.1",
    ])
    func `what only this machine or its network reaches is local`(host: String) {
        #expect(AddressScope.ofNumeric(host) == .local)
    }

    @Test(arguments: [
        "8.8.8.8", "172.15.0.1", "172.32.0.1", "192.167.1.1", "100.63.0.1", "100.128.0.1", "169.253.1.1",
        "223.255.255.255",
        "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808",
    ])
    func `the rest is global`(host: String) {
        #expect(AddressScope.ofNumeric(host) == .global)
    }

    /// RFC 6890's blocks that no host on the internet has, from their first address to their last.
    @Test(arguments: [
        ("0.0.0.0", "0.255.255.255"), ("10.0.0.0", "10.255.255.255"), ("100.64.0.0", "100.127.255.255"),
        ("127.0.0.0", "127.255.255.255"), ("169.254.0.0", "169.254.255.255"), ("172.16.0.0", "172.31.255.255"),
        ("192.0.0.0", "192.0.0.255"), ("192.168.0.0", "192.168.255.255"), ("198.18.0.0", "198.19.255.255"),
        ("224.0.0.0", "255.255.255.255"),
    ])
    func `a block is local from end to end, and its neighbours are not`(first: String, last: String) {
        for (edge, step) in [(first, -1), (last, 1)] {
            #expect(AddressScope.ofNumeric(edge) == .local)
            let number = edge.split(separator: ".").reduce(0) { $0 * 256 + Int($1)! } + step
            if (0...0xFFFF_FFFF).contains(number) { #expect(AddressScope.ofNumeric("\(number)") == .global) }
        }
    }

    @Test(arguments: ["fe81::1", "febf::1", "fec0::1", "fdff::1", "::fffe:8.8.8.8", "::feff:8.8.8.8", "::1:808:808"])
    func `every local block of IPv6 is local throughout`(host: String) {
        #expect(AddressScope.ofNumeric(host) == .local)
    }

    @Test(arguments: [
        "fbff::1", "2001:db8::1", "65:ff9b::7f00:1", "64:ff9c::7f00:1", "64:fe9b::7f00:1", "164:ff9b::7f00:1",
        "64:ff9b::1:7f00:1", "64:ff9b:0:1::7f00:1", "0:0:0:0:1:0:808:808", "1::ffff:127.0.0.1",
    ])
    func `what only resembles a local block of IPv6 is global`(host: String) {
        #expect(AddressScope.ofNumeric(host) == .global)
    }

    @Test(arguments: ["example.org", "localhost", "", "1.2.3.4.5", "cafe", "[::1", "::1]", "[]"])
    func `a name is no number`(host: String) {
        #expect(AddressScope.ofNumeric(host) == nil)
    }

    @Test func `localhost is local whatever it resolves to here`() {
        #expect(AddressScope.of(host: "localhost") == .local)
    }

    @Test(
        arguments: [
            ("http://user:pw@h.example:81/a", "h.example"), ("https://[::1]:8080/", "::1"), ("http:///x", nil),
        ] as [(String, String?)])
    func `the host of an address is found`(address: String, host: String?) {
        #expect(ResourceAddress(address).host == host)
    }

    @Test func `a request that may only go out never reaches this machine`() async throws {
        try await withServer(.always(.text("there"))) { server in
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            try await withHTTPTransport(options: TransportOptions(), logger: logger) { transport in
                for address in [server.url("/a"), "http://localhost:\(server.port)/a"] {
                    var request = WireRequest(.get, ResourceAddress(address))
                    request.allowsLocalAddresses = false
                    do {
                        _ = try await transport.send(request)
                        Issue.record("\(address) was asked")
                    } catch let failure as WireFailure {
                        #expect(failure.kind == .localAddress)
                    }
                }
            }
            #expect(server.record.requests.isEmpty)
        }
    }
}
