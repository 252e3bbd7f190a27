import Testing

@testable import BookSyncWeb

/// How many passwords may be tried.
@Suite struct LoginThrottleTests {
    private typealias Client = LoginThrottle.Client

    private static func tries(_ throttle: inout LoginThrottle, _ client: Client, at now: Double, _ count: Int) -> Int {
        (0..<count).count { _ in throttle.ask(client, at: now) == .mayTry }
    }

    @Test func `one client has five tries, and one more each half minute`() {
        var throttle = LoginThrottle()
        let client = Client(network: "a")
        #expect(Self.tries(&throttle, client, at: 0, 100) == 5)
        #expect(throttle.ask(client, at: 0) == .wait(seconds: 30))
        #expect(throttle.ask(client, at: 29) == .wait(seconds: 1))
        #expect(throttle.ask(client, at: 30) == .mayTry)
        #expect(throttle.ask(client, at: 30) == .wait(seconds: 30))
        // However often it asks, the wait does not grow.
        for _ in 0..<10_000 { _ = throttle.ask(client, at: 59) }
        #expect(throttle.ask(client, at: 60) == .mayTry)
        #expect(Self.tries(&throttle, client, at: 10_000, 100) == 5)
    }

    @Test func `ten thousand tries are few hashes, and somebody else is let try all the same`() {
        var throttle = LoginThrottle()
        let attacker = Client(network: "evil")
        var hashes = 0
        for number in 0..<10_000 { if throttle.ask(attacker, at: Double(number) / 100) == .mayTry { hashes += 1 } }
        #expect(hashes == 5 + 3)
        #expect(throttle.ask(Client(network: "home"), at: 100) == .mayTry)
        // At the attacker's own address as well, once it is over.
        #expect(throttle.ask(attacker, at: 130) == .mayTry)
    }

    @Test func `many networks together are bounded, and those without a wrong password have a lane of their own`() {
        var throttle = LoginThrottle()
        var hashes = 0
        let networks = (0..<50).map { Client(network: "evil\($0)") }
        for second in 0..<600 {
            for client in networks where throttle.ask(client, at: Double(second)) == .mayTry { hashes += 1 }
        }
        // Each network leaves the first lane after one try; the other lane has ten, and one more each four seconds.
        #expect(hashes == networks.count + 10 + 599 / 4)
        #expect(throttle.ask(networks[0], at: 599) != .mayTry)
        #expect(throttle.ask(Client(network: "home"), at: 599) == .mayTry)
    }

    @Test func `a browser that was let in before has tries of its own, whatever others do`() {
        var throttle = LoginThrottle()
        for number in 0..<10_000 { _ = throttle.ask(Client(network: "evil\(number)"), at: 10) }
        #expect(throttle.ask(Client(network: "home"), at: 10) != .mayTry)
        let known = Client(network: "home", browser: "b")
        #expect(Self.tries(&throttle, known, at: 10, 100) == 5)
        #expect(throttle.ask(Client(network: "evil1", browser: "other"), at: 10) == .mayTry)
    }

    @Test func `the right password frees its client, and nobody else`() {
        var throttle = LoginThrottle()
        let (one, other) = (Client(network: "a"), Client(network: "b"))
        #expect(Self.tries(&throttle, one, at: 0, 100) == 5 && Self.tries(&throttle, other, at: 0, 100) == 5)
        throttle.succeeded(one)
        // By then all together have a try more, and a client that was not freed has none of its own.
        #expect(throttle.ask(other, at: 4) != .mayTry)
        #expect(throttle.ask(one, at: 4) == .mayTry)
    }

    @Test func `ten newcomers may try at once, and one more each four seconds`() {
        var throttle = LoginThrottle()
        for number in 0..<10 { #expect(throttle.ask(Client(network: "n\(number)"), at: 0) == .mayTry) }
        #expect(throttle.ask(Client(network: "late"), at: 0) == .wait(seconds: 4))
        #expect(throttle.ask(Client(network: "late"), at: 3.9) == .wait(seconds: 1))
        #expect(throttle.ask(Client(network: "late"), at: 4) == .mayTry)
    }

    @Test(arguments: [(3599.0, true), (3600.0, false)])
    func `a wrong password is held against its network for an hour`(time: Double, isHeld: Bool) {
        var throttle = LoginThrottle()
        #expect(throttle.ask(Client(network: "a"), at: 0) == .mayTry)
        for number in 0..<10 { #expect(throttle.ask(Client(network: "n\(number)"), at: time) == .mayTry) }
        // The newcomers' lane is empty now: only one that is no newcomer has another.
        #expect((throttle.ask(Client(network: "a"), at: time) == .mayTry) == isHeld)
    }

    @Test func `what is kept in mind is bounded`() {
        var throttle = LoginThrottle()
        for number in 0..<4096 { _ = throttle.ask(Client(network: "m\(number)"), at: Double(number) * 5 - 50_000) }
        #expect(throttle.count == 4096)
        // Only the networks of the last hour are kept.
        _ = throttle.ask(Client(network: "m"), at: 4096 * 5 - 50_000)
        #expect(throttle.count == 720)
        for number in 0..<20_000 {
            _ = throttle.ask(Client(network: "n\(number)"), at: Double(number) * 5)
            _ = throttle.ask(Client(network: "n", browser: "b\(number)"), at: Double(number) * 5)
        }
        #expect(throttle.count <= LoginThrottle.maxCount)
        #expect(throttle.count >= LoginThrottle.maxCount * 3 / 4)
        // The newest are those that are kept: this one has had a try of its five.
        #expect(Self.tries(&throttle, Client(network: "n", browser: "b19999"), at: 19_999 * 5, 100) == 4)
    }

    /// How many of the clients that fill the memory have all their tries back, and how many are kept with a new one.
    @Test(arguments: [
        (0, LoginThrottle.maxCount * 3 / 4 + 1), (500, LoginThrottle.maxCount - 499), (LoginThrottle.maxCount - 1, 2),
    ])
    func `a full memory forgets clients with all their tries, and then the oldest`(recovered: Int, kept: Int) {
        var throttle = LoginThrottle()
        for number in 0..<LoginThrottle.maxCount {
            _ = throttle.ask(Client(network: "n", browser: "b\(number)"), at: number < recovered ? 0 : 31)
        }
        #expect(throttle.count == LoginThrottle.maxCount)
        _ = throttle.ask(Client(network: "n", browser: "new"), at: 35)
        #expect(throttle.count == kept)
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.255.255.255", true), ("126.255.255.255", false), ("128.0.0.1", false), ("::1", true),
        ("::2", false), ("::", false), ("1::1", false), ("::ffff:127.0.0.1", true), ("::ffff:8.8.8.8", false),
    ])
    func `a loopback address is one of this machine`(_ address: String, _ isLoopback: Bool) {
        #expect(NumericAddress(address)?.isLoopback == isLoopback)
    }

    @Test(arguments: ["", "localhost", "127.1", "0177.0.0.1", "1.2.3", "1.2.3.4.5", "fe80::1%lo", "[::1]", " ::1"])
    func `what is no address in its full form is none`(_ text: String) {
        #expect(NumericAddress(text) == nil)
    }

    @Test(arguments: [
        ("192.168.1.7", "192.168.1.7"), ("::feff:1.2.3.4", "0000000000000000"), ("::fffe:1.2.3.4", "0000000000000000"),
        ("1::ffff:1.2.3.4", "0001000000000000"), ("::1:ffff:1.2.3.4", "0000000000000000"),
        ("::ffff:192.168.1.7", "192.168.1.7"), ("::1", "0000000000000000"),
        ("2001:db8:1:2:3:4:5:6", "20010db800010002"), ("2001:db8:1:2:ffff::", "20010db800010002"),
    ])
    func `a network is an address, or the first half of a long one`(_ address: String, _ network: String) {
        #expect(NumericAddress(address)?.network == network)
    }
}
