import BookModel
import Foundation
import NIOCore

/// Whether an address belongs to the whole internet or only to this machine or its neighbourhood.
///
/// A catalog on the internet that names an address in the user's own network would have booksync ask a router or a
/// printer on its behalf; such addresses are only fetched where the source says so.
///
/// Not guaranteed: an address of the internet may belong to a machine in the user's own network, as IPv6 addresses
/// often do, and a network may translate to IPv4 under a prefix of its own. Neither can be told by the address.
enum AddressScope: Sendable, Hashable {
    case global
    /// Loopback, link-local, private, multicast, documentation, and whatever else the IANA registries of special-purpose
    /// addresses do not call globally reachable.
    case local
    /// No host at all (`0.0.0.0`, `::`): what ad filters resolve the names to that they block.
    case nowhere

    /// - Parameter address: four bytes of IPv4, or sixteen of IPv6.
    init(_ address: [UInt8]) {
        let carried = Self.addresses(carriedBy: address)
        let isGlobal =
            carried.isEmpty
            ? Self.unicast.contains { $0.contains(address) } && !Self.special.contains { $0.contains(address) }
            : carried.allSatisfy { AddressScope($0) == .global }
        self = isGlobal ? .global : .local
    }

    /// What is given to hosts on the internet: of IPv6 a single block so far.
    private static let unicast = ["0.0.0.0/0", "2000::/3"].compactMap(AddressBlock.init)

    /// Blocks in ``unicast`` that are not globally reachable (IANA's special-purpose address registries).
    private static let special = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/3", "2001::/23", "2001:db8::/32", "3fff::/20",
    ].compactMap(AddressBlock.init)

    /// Blocks of IPv6 whose addresses stand for an IPv4 address, which begins at that byte: IPv4-compatible (with `::`
    /// and `::1`), IPv4-mapped, IPv4-translated (RFC 2765), NAT64 (RFC 6052) and 6to4 (RFC 3056).
    private static let carriers = [
        ("::/96", 12), ("::ffff:0:0/96", 12), ("::ffff:0:0:0/96", 12), ("64:ff9b::/96", 12), ("2002::/16", 2),
    ].compactMap { text, offset in AddressBlock(text).map { (block: $0, offset: offset) } }

    private static let teredo = AddressBlock("2001::/32")

    /// The IPv4 addresses that a packet to this IPv6 address goes to in the end.
    private static func addresses(carriedBy address: [UInt8]) -> [[UInt8]] {
        // A server, and a client whose bits are inverted (RFC 4380 §4).
        if teredo?.contains(address) == true { return [Array(address[4..<8]), address[12..<16].map(~)] }
        return carriers.filter { $0.block.contains(address) }.map { Array(address[$0.offset..<$0.offset + 4]) }
    }

    /// The scope of a numeric address; nil when the text is a name.
    static func ofNumeric(_ host: String) -> AddressScope? {
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        // A zone ("fe80::1%eth0") only ever names a link.
        if bare.contains("%") { return .local }
        var four = in_addr()
        // `inet_aton` reads what resolvers read: also 127.1, 0x7f000001 and 2130706433.
        if !bare.isEmpty, !bare.contains(":"), inet_aton(bare, &four) != 0 {
            return withUnsafeBytes(of: &four) { AddressScope(Array($0)) }
        }
        return AddressBlock.bytes(of: bare).map(AddressScope.init)
    }

    /// The scope of a host whose name somebody else resolves, as a proxy does: what the host itself says.
    static func ofUnresolved(_ host: String) -> AddressScope {
        var name = host.lowercased()[...]
        while name.last == "." { name.removeLast() }
        if let scope = ofNumeric(String(name)) { return scope }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard let domain = labels.last, labels.count > 1, labels.suffix(2) != ["home", "arpa"] else { return .local }
        return privateDomains.contains(String(domain)) ? .local : .global
    }

    /// Domains that the internet does not have and private networks do (RFC 6761, RFC 6762 with appendix G).
    private static let privateDomains: Set<String> = [
        "localhost", "localdomain", "local", "internal", "intranet", "private", "corp", "home", "lan",
    ]

    /// The scopes of all addresses that the system's resolver has for a host; empty when it has none, or fails. Blocks.
    static func resolving(_ host: String) -> Set<AddressScope> {
        if let scope = ofNumeric(host) { return [scope] }
        var hints = addrinfo()
        #if os(Linux)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var scopes: Set<AddressScope> = []
        var next = list
        while let entry = next?.pointee {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            getnameinfo(entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            let address = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if let scope = ["0.0.0.0", "::"].contains(address) ? .nowhere : ofNumeric(address) { scopes.insert(scope) }
            next = entry.ai_next
        }
        return scopes
    }
}

extension SocketAddress {
    /// Four or sixteen bytes; nil for a socket in the file system.
    var addressBytes: [UInt8]? {
        switch self {
        case .v4(let address): withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
        case .v6(let address): withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
        case .unixDomainSocket: nil
        }
    }
}

extension ResourceAddress {
    /// The host as the address names it, without brackets; nil when there is none.
    package var host: String? { URL(string: wireText)?.plainHost }

    /// Whether the host says by itself that it is on this machine or in a private network.
    package var isPlainlyPrivate: Bool { host.map { AddressScope.ofUnresolved($0) == .local } ?? true }
}

extension URL {
    /// Without brackets; nil when there is none.
    package var plainHost: String? {
        guard let host, !host.isEmpty else { return nil }
        return host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }
}

/// Remembers the scopes of hosts for one run, so that names are resolved once. A look-up that failed is made again.
actor ScopeCache {
    /// As ``AddressScope/resolving(_:)``; may block.
    typealias Resolver = @Sendable (String) -> Set<AddressScope>

    private let resolver: Resolver
    private var known: [String: Set<AddressScope>] = [:]

    init(_ resolver: @escaping Resolver) {
        self.resolver = resolver
    }

    /// - Returns: an empty set when the look-up failed.
    func scopes(of host: String) async -> Set<AddressScope> {
        let host = host.lowercased()
        if let scopes = known[host] { return scopes }
        let resolver = resolver
        let scopes = await withCheckedContinuation { continuation in
            // The resolver blocks: not on a thread of the cooperative pool.
            DispatchQueue.global().async { continuation.resume(returning: resolver(host)) }
        }
        if !scopes.isEmpty { known[host] = scopes }
        return scopes
    }
}
