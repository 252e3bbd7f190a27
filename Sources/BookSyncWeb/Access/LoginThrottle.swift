/// How many passwords may be tried, and by whom: a value that is given the time and opens no socket.
///
/// Whoever guesses passwords is slowed down, and must not thereby shut out those who know it. So there is not one limit:
/// - A browser that the right password was given in before (it holds a signed cookie that says so) has tries of its own,
///   whatever all others do. Nobody has such a cookie without the password.
/// - Any other client shares the tries of its network: the address, of IPv6 its first 64 bits.
/// - All of these together share the tries of one of two lanes: networks from which no wrong password came within an hour
///   have theirs, and the others have theirs. One attacker leaves the first lane after one try, and after that costs
///   only other attackers something.
///
/// Tries come back with time, and no number of wrong ones lengthens the wait: whoever is refused is told in how many seconds
/// to try again. What is not achieved: a newcomer who shares the attacker's network, or one that meets an attacker with more
/// than 900 networks an hour, waits until the attack ends, or uses the token.
struct LoginThrottle: Sendable {
    /// Who tries.
    struct Client: Sendable, Hashable {
        /// As ``network(of:)`` calls it.
        var network: String
        /// What the browser's own cookie calls it; nil where it has none.
        var browser: String?
    }

    enum Verdict: Sendable, Hashable {
        case mayTry
        /// Whole seconds, at least 1.
        case wait(seconds: Int)
    }

    /// So many tries at once, and one more after each so many seconds.
    struct Rate: Sendable {
        let tries: Double
        let seconds: Double
    }

    static let eachClient = Rate(tries: 5, seconds: 30)
    static let eachLane = Rate(tries: 10, seconds: 4)
    /// Seconds for which a wrong password is held against a network.
    static let memory = 3600.0
    /// Clients that are kept in mind.
    static let maxCount = 4096

    private struct Tries: Sendable {
        var left: Double
        var time: Double

        /// What is there by now.
        func left(_ rate: Rate, at now: Double) -> Double {
            min(rate.tries, left + max(0, now - time) / rate.seconds)
        }
    }

    private var clients: [String: Tries] = [:]
    private var wrong: [String: Double] = [:]
    private var lanes: [Bool: Tries] = [:]

    /// How many clients are kept in mind; for tests.
    var count: Int { max(clients.count, wrong.count) }

    /// Asks for a try, and takes it where it is given. It counts as a wrong one until ``succeeded(_:)``.
    /// - Parameter now: in seconds, of any clock that does not go back.
    mutating func ask(_ client: Client, at now: Double) -> Verdict {
        let name = Self.name(of: client)
        let tries = clients[name]?.left(Self.eachClient, at: now) ?? Self.eachClient.tries
        guard tries >= 1 else { return Self.wait(tries, Self.eachClient) }
        if client.browser == nil {
            let isKnown = wrong[client.network].map { now - $0 < Self.memory } ?? false
            let lane = lanes[isKnown]?.left(Self.eachLane, at: now) ?? Self.eachLane.tries
            guard lane >= 1 else { return Self.wait(lane, Self.eachLane) }
            lanes[isKnown] = Tries(left: lane - 1, time: now)
            makeRoom(at: now)
            wrong[client.network] = now
        } else {
            makeRoom(at: now)
        }
        clients[name] = Tries(left: tries - 1, time: now)
        return .mayTry
    }

    /// The client's last try was the right password: nothing is held against it.
    mutating func succeeded(_ client: Client) {
        clients[Self.name(of: client)] = nil
        if client.browser == nil { wrong[client.network] = nil }
    }

    private static func name(of client: Client) -> String {
        client.browser.map { "browser " + $0 } ?? client.network
    }

    private static func wait(_ left: Double, _ rate: Rate) -> Verdict {
        .wait(seconds: max(1, Int(((1 - left) * rate.seconds).rounded(.up))))
    }

    /// Forgets whom nothing is held against any more, and where those are too few, the longest ago.
    private mutating func makeRoom(at now: Double) {
        if clients.count >= Self.maxCount {
            clients = clients.filter { $0.value.left(Self.eachClient, at: now) < Self.eachClient.tries }
            clients = Self.newest(clients) { $0.time }
        }
        if wrong.count >= Self.maxCount {
            wrong = wrong.filter { now - $0.value < Self.memory }
            wrong = Self.newest(wrong) { $0 }
        }
    }

    private static func newest<Value>(_ all: [String: Value], by time: (Value) -> Double) -> [String: Value] {
        guard all.count >= maxCount else { return all }
        let kept = all.sorted { time($0.value) > time($1.value) }.prefix(maxCount * 3 / 4)
        return Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }
}
