import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Which names the server answers to.
///
/// A page on the web may have its own name resolve to this machine, and its script then ask the server as if it were the
/// page's own (DNS rebinding). The name is in the request's Host field: only names that are this machine's are answered.
package struct HostRule: Sendable, Hashable {
    /// In lower case.
    private let others: Set<String>

    /// - Parameter publicURL: the address under which a proxy offers the server; its host is a good name too.
    package init(publicURL: String?) {
        others = Set([publicURL.flatMap { URL(string: $0)?.host?.lowercased() }].compactMap(\.self))
    }

    /// - Parameter authority: the Host field: a host, and perhaps a port.
    package func allows(_ authority: String) -> Bool {
        guard let host = Self.host(of: authority) else { return false }
        return Self.isThisMachine(host) || others.contains(host)
    }

    /// Whether a name or a numeric address can only ever be this machine's.
    package static func isThisMachine(_ host: String) -> Bool {
        if host.lowercased() == "localhost" { return true }
        var four = in_addr()
        if inet_pton(AF_INET, host, &four) == 1 { return UInt32(bigEndian: four.s_addr) >> 24 == 127 }
        var six = in6_addr()
        guard inet_pton(AF_INET6, host, &six) == 1 else { return false }
        return withUnsafeBytes(of: &six) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
    }

    /// The host without its port, in lower case and without brackets; nil when the text is no authority (RFC 9110 §7.2).
    static func host(of authority: String) -> String? {
        let host: Substring
        var rest: Substring
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[..<end].dropFirst()
            rest = authority[end...].dropFirst()
        } else {
            host = authority.prefix { $0 != ":" }
            rest = authority[host.endIndex...]
        }
        if !rest.isEmpty {
            guard rest.removeFirst() == ":", rest.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        }
        return host.isEmpty ? nil : host.lowercased()
    }
}
