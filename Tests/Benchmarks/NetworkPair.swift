import Foundation

/// Two network namespaces with a link between them that is held to 100 Mbit/s towards the client.
///
/// The namespaces have no names: they and the link are gone with the last process in them, and those that hold them end
/// with the benchmark, however it ends.
struct NetworkPair {
    /// This machine cannot have them.
    struct NotHere: Error {
        let why: String
    }

    private static let serverAddress = "10.203.0.1"

    private let server: pid_t
    private let client: pid_t

    /// Before a command that is to run at the client's end.
    var inClient: [String] { Self.inside(client) }

    /// The server's end.
    var place: WebServer.Place {
        WebServer.Place(host: Self.serverAddress, port: 8080, prefix: Self.inside(server))
    }

    static func with<Answer>(
        _ setting: Setting, _ body: (NetworkPair) async throws -> Answer
    ) async throws -> Answer {
        #if !os(Linux)
            throw NotHere(why: "network namespaces are Linux's")
        #endif
        guard getuid() == 0 else { throw NotHere(why: "network namespaces need root") }
        var holders: [pid_t] = []
        defer {
            for holder in holders {
                kill(holder, SIGTERM)
                _ = Result { try MeasuredProcess.wait(for: holder) }
            }
        }
        let pair: NetworkPair
        do {
            for _ in 1...2 { holders.append(try hold()) }
            for holder in holders { try waitUntilApart(holder) }
            pair = NetworkPair(server: holders[0], client: holders[1])
            try pair.connect(setting)
        } catch let failure as MeasuredProcess.Failed {
            throw NotHere(why: failure.description.replacing("\n", with: " "))
        }
        return try await body(pair)
    }

    /// A process in a network namespace of its own, which ends with the benchmark.
    private static func hold() throws -> pid_t {
        try MeasuredProcess.start(
            ["unshare", "--net", "tail", "--pid=\(getpid())", "-f", "/dev/null"], log: "/dev/null")
    }

    /// What is set up too early would be set up for the whole machine.
    private static func waitUntilApart(_ holder: pid_t) throws {
        let ours = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/net")
        for _ in 0..<500 {
            let theirs = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(holder)/ns/net")
            if theirs != ours { return }
            usleep(10_000)
        }
        throw MeasuredProcess.Failed(description: "a network namespace cannot be made")
    }

    /// Frames go out one by one and not in bundles of 64 KB, so that the link counts the headers of each.
    private func connect(_ setting: Setting) throws {
        let link = [
            "ip", "link", "add", "name", "bench0", "netns", "\(server)", "type", "veth", "peer", "name", "bench1",
            "netns", "\(client)",
        ]
        let atServer = """
            ip addr add \(Self.serverAddress)/24 dev bench0
            ip link set dev bench0 mtu 1500 gso_max_segs 1 up
            tc qdisc add dev bench0 root tbf rate 100mbit burst 64kb latency 100ms
            """
        let atClient = """
            ip addr add 10.203.0.2/24 dev bench1
            ip link set dev bench1 mtu 1500 gso_max_segs 1 up
            """
        for command in [
            link, Self.inside(server) + ["sh", "-ec", atServer], Self.inside(client) + ["sh", "-ec", atClient],
        ] {
            _ = try setting.measure(command)
        }
    }

    private static func inside(_ holder: pid_t) -> [String] { ["nsenter", "--target", "\(holder)", "--net", "--"] }
}
