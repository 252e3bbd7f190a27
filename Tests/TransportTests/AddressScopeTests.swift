import BookModel
import Testing

@testable import Transport

@Suite struct AddressScopeTests {
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

    /// The blocks of IANA's registry that no host on the internet has, from their first address to their last.
    @Test(arguments: [
        ("0.0.0.0", "0.255.255.255"), ("10.0.0.0", "10.255.255.255"), ("100.64.0.0", "100.127.255.255"),
        ("127.0.0.0", "127.255.255.255"), ("169.254.0.0", "169.254.255.255"), ("172.16.0.0", "172.31.255.255"),
        ("192.0.0.0", "192.0.0.255"), ("192.0.2.0", "192.0.2.255"),
        ("192.88.99.0", "192.88.99.255"), ("192.168.0.0", "192.168.255.255"), ("198.18.0.0", "198.19.255.255"),
        ("198.51.100.0", "198.51.100.255"), ("203.0.113.0", "203.0.113.255"),
        ("224.0.0.0", "255.255.255.255"),
    ])
    func `a block is local from end to end, and its neighbours are not`(first: String, last: String) {
        for (edge, step) in [(first, -1), (last, 1)] {
            #expect(AddressScope.ofNumeric(edge) == .local)
            let number = edge.split(separator: ".").reduce(0) { $0 * 256 + Int($1)! } + step
            if (0...0xFFFF_FFFF).contains(number) { #expect(AddressScope.ofNumeric("\(number)") == .global) }
        }
    }

    @Test(arguments: [
        "fe81::1", "febf::1", "fec0::1", "fdff::1", "fbff::1", "::fffe:8.8.8.8", "::feff:8.8.8.8", "::1:808:808",
        "::1:0:808:808", "1::ffff:8.8.8.8", "65:ff9b::808:808", "64:ff9c::808:808", "64:ff9b::1:808:808",
        "64:ff9b:1::808:808", "100::1", "100:0:0:1::1", "1fff::1", "4000::1", "5f00::1",
    ])
    func `only 2000::/3 is given to hosts, so the rest of IPv6 is local`(host: String) {
        #expect(AddressScope.ofNumeric(host) == .local)
    }

    @Test(arguments: [
        "2001::1", "2001:1::1", "2001:2::1", "2001:10::1", "2001:1ff:ffff::1", "2001:db8::1", "2001:db8:ffff::1",
        "3fff::1", "3fff:fff::1",
    ])
    func `what is kept for protocols and documentation is local`(host: String) {
        #expect(AddressScope.ofNumeric(host) == .local)
    }

    @Test(arguments: [
        "2000::1", "2001:200::1", "2001:db7::1", "2001:db9::1", "2003:7f00:1::", "3ffe::1", "3fff:1000::1",
        "2606:4700::7f00:1", "2001:4860::c0a8:101",
    ])
    func `other addresses of 2000::/3 are global, whatever they end with`(host: String) {
        #expect(AddressScope.ofNumeric(host) == .global)
    }

    /// Both forms, with an address of the private network and with one of the internet.
    @Test(
        arguments: [
            ("::127.0.0.1", "::8.8.8.8"), ("::ffff:10.1.2.3", "::ffff:8.8.8.8"),
            ("::ffff:0:169.254.169.254", "::ffff:0:8.8.8.8"), ("64:ff9b::192.168.1.1", "64:ff9b::8.8.8.8"),
            ("2002:7f00:1::", "2002:808:808::"), ("2002:c0a8:101::1", "2002:c0a7:101::1"),
            // Teredo: the server's address, then the client's with its bits inverted.
            ("2001:0:7f00:1::f7f7:f7f7", "2001:0:808:808::f7f7:f7f7"),
            ("2001:0:808:808::3f57:fefe", "2001:0:808:808::3f58:fefe"),
        ])
    func `an IPv6 address that carries an IPv4 address has the scope of that`(local: String, global: String) {
        #expect(AddressScope.ofNumeric(local) == .local)
        #expect(AddressScope.ofNumeric(global) == .global)
    }

    @Test(arguments: ["example.org", "localhost", "", "1.2.3.4.5", "cafe", "[::1", "::1]", "[]"])
    func `a name is no number`(host: String) {
        #expect(AddressScope.ofNumeric(host) == nil)
    }

    @Test func `localhost is local whatever it resolves to here, and what does not resolve is neither`() {
        #expect(AddressScope.resolving("localhost") == [.local])
        #expect(AddressScope.resolving("nowhere.invalid").isEmpty)
    }

    @Test(arguments: [
        "localhost", "LOCALHOST.", "db.localhost", "printer", "nas.local", "NAS.Local.", "db.internal", "a.b.home.arpa",
        "home.arpa", "fritz.lan", "mail.corp", "10.0.0.1", "127.0.0.1.", "2130706433", "::1", "[fd00::1]", "",
    ])
    func `a host that a proxy resolves is local where its name says so`(host: String) {
        #expect(AddressScope.ofUnresolved(host) == .local)
    }

    @Test(arguments: [
        "audio.example", "local.example", "internal.example.", "nas.local.example", "in-addr.arpa", "myhome.arpa",
        "xlocal.org", "8.8.8.8", "8.8.8.8.", "2606:4700::1111",
    ])
    func `any other host that a proxy resolves is global`(host: String) {
        #expect(AddressScope.ofUnresolved(host) == .global)
    }

    @Test(
        arguments: [
            ("http://user:pw@h.example:81/a", "h.example"), ("https://[::1]:8080/", "::1"), ("http:///x", nil),
        ] as [(String, String?)])
    func `the host of an address is found`(address: String, host: String?) {
        #expect(ResourceAddress(address).host == host)
    }
}
