import BookModel
import Foundation

/// Whether an address belongs to the whole internet or only to this machine or its neighbourhood.
///
/// A catalog on the internet that names an address in the listener's own network would have booksync ask a router or a
/// printer on its behalf; such addresses are only fetched where the source says so.
package enum AddressScope: Sendable, Hashable {
    case global
    /// Loopback, link-local, private (RFC 1918, RFC 4193, RFC 6598), multicast, unspecified, reserved.
    case local

    /// The scope of a numeric address; nil when the text is a name.
    package static func ofNumeric(_ host: String) -> AddressScope? {
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        // A zone ("fe80::1%eth0") only ever names a link.
        if bare.contains("%") { return .local }
        var four = in_addr()
        // `inet_aton` reads what resolvers read: also 127.1, 0x7f000001 and 2130706433.
        if !bare.isEmpty, !bare.contains(":"), inet_aton(bare, &four) != 0 {
            return ofIPv4(UInt32(bigEndian: four.s_addr))
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, bare, &six) == 1 else { return nil }
        return withUnsafeBytes(of: &six) { ofIPv6(Array($0)) }
    }

    private static func ofIPv4(_ address: UInt32) -> AddressScope {
        let locals: [(UInt32, UInt32)] = [
            (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16),
            (0xAC10_0000, 12), (0xC000_0000, 24), (0xC0A8_0000, 16), (0xC612_0000, 15), (0xE000_0000, 3),
        ]
        return locals.contains { address >> (32 - $0.1) == $0.0 >> (32 - $0.1) } ? .local : .global
    }

    private static func ofIPv6(_ bytes: [UInt8]) -> AddressScope {
        let embedded = bytes[12...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        if bytes[..<10].allSatisfy({ $0 == 0 }) {
            // ::, ::1, and IPv4 addresses in IPv6's clothes.
            return bytes[10] == 0xFF && bytes[11] == 0xFF ? ofIPv4(embedded) : .local
        }
        // 64:ff9b::/96 translates to IPv4 (RFC 6052).
        if bytes.starts(with: [0x00, 0x64, 0xFF, 0x9B]), bytes[4..<12].allSatisfy({ $0 == 0 }) {
            return ofIPv4(embedded)
        }
        let isUniqueLocal = bytes[0] & 0xFE == 0xFC
        let isLinkLocal = bytes[0] == 0xFE && bytes[1] & 0x80 == 0x80
        return isUniqueLocal || isLinkLocal || bytes[0] == 0xFF ? .local : .global
    }

    /// The scope of a host, asking the system's resolver for names. A name with any local address is local; one that
    /// does not resolve is global, since the connection will say so better. May block.
    package static func of(host: String) -> AddressScope {
        if let scope = ofNumeric(host) { return scope }
        var hints = addrinfo()
        #if os(Linux)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return .global }
        defer { freeaddrinfo(list) }
        var next = list
        while let entry = next {
            var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let outcome = getnameinfo(
                entry.pointee.ai_addr, entry.pointee.ai_addrlen, &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST)
            let text = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if outcome == 0, ofNumeric(text) == .local { return .local }
            next = entry.pointee.ai_next
        }
        return .global
    }
}

extension ResourceAddress {
    /// The host as the address names it, without brackets; nil when there is none.
    package var host: String? {
        guard let host = URL(string: wireText)?.host, !host.isEmpty else { return nil }
        return host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }
}

/// Remembers the scopes of hosts for one run, so that names are resolved once.
actor ScopeCache {
    private var scopes: [String: AddressScope] = [:]

    func scope(of host: String) async -> AddressScope {
        let host = host.lowercased()
        if let known = scopes[host] { return known }
        if let scope = AddressScope.ofNumeric(host) { return scope }
        let scope = await withCheckedContinuation { continuation in
            // The resolver blocks: not on a thread of the cooperative pool.
            DispatchQueue.global().async { continuation.resume(returning: AddressScope.of(host: host)) }
        }
        scopes[host] = scope
        return scope
    }
}
