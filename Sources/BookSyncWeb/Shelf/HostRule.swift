import Foundation
import Transport

/// Which names the server answers to.
///
/// A page on the web may have its own name resolve to this machine, and its script then ask the server as if it were the
/// page's own (DNS rebinding). The name is in the request's Host field: only names that are this machine's are answered.
/// A numeric address is nobody's name, so where other machines are listened to any of them is answered.
package struct HostRule: Sendable, Hashable {
    /// In lower case.
    private let others: Set<String>
    private let allowsNumbers: Bool

    /// - Parameters:
    ///   - target: where the server listens; nil for this machine alone.
    ///   - publicURL: the address under which a proxy offers the server; its host is a good name too.
    ///   - hosts: more names that are good.
    ///   - ownName: what this machine is called; counts where other machines are listened to.
    package init(
        target: ListenTarget? = nil, publicURL: String?, hosts: [String] = [],
        ownName: String = ProcessInfo.processInfo.hostName
    ) {
        var names = Set(hosts.map { $0.lowercased() })
        if let host = publicURL.flatMap({ URL(string: $0)?.plainHost?.lowercased() }) { names.insert(host) }
        allowsNumbers = target.map { !$0.isThisMachine } ?? false
        if allowsNumbers, case .address(let address)? = target {
            names.insert(address.host.lowercased())
            let own = ownName.lowercased()
            let first = String(own.prefix { $0 != "." })
            if !first.isEmpty { names.formUnion([own, first, first + ".local"]) }
        }
        others = names
    }

    /// The names and addresses that the server answers to, but for numeric ones that it does not know beforehand.
    package var names: [String] { ["localhost", "127.0.0.1", "::1"] + others.sorted() }

    /// - Parameter authority: the Host field: a host, and perhaps a port.
    package func allows(_ authority: String) -> Bool {
        guard let host = Self.host(of: authority) else { return false }
        if Self.isThisMachine(host) || others.contains(host) { return true }
        return allowsNumbers && NumericAddress(host) != nil
    }

    /// Whether a name or a numeric address can only ever be this machine's.
    package static func isThisMachine(_ host: String) -> Bool {
        host.lowercased() == "localhost" || NumericAddress(host)?.isLoopback == true
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
