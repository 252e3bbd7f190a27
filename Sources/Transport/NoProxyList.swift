import Foundation

/// The hosts that are asked directly, as `no_proxy` lists them.
///
/// Read as curl reads it: entries are separated by commas or blanks; a lone `*` stands for all; a name stands for
/// itself and everything below it, with or without a leading dot; an address stands for itself, or with `/bits` for its
/// network. A host that is an address is compared with addresses only, a name with names only: nothing is resolved.
/// Beyond curl an entry may end with a port, and is then for that port alone.
struct NoProxyList: Sendable, Hashable {
    private struct Entry: Sendable, Hashable {
        var host: String
        var port: Int?
    }

    private var entries: [Entry] = []
    private var coversAll = false

    init(_ text: String) {
        let words = text.split { $0 == "," || $0 == " " || $0 == "\t" }
        coversAll = words == ["*"]
        entries = words.map(Self.entry)
    }

    private static func entry(_ word: Substring) -> Entry {
        // More than one colon without brackets is an IPv6 address, which has no port.
        let port: Substring
        if word.hasPrefix("["), let end = word.firstIndex(of: "]") {
            port = word[end...].dropFirst()
            let isNetwork = port.hasPrefix("/")
            return Entry(
                host: word[..<end].dropFirst().lowercased() + (isNetwork ? port : ""),
                port: isNetwork ? nil : number(port))
        }
        guard let colon = word.firstIndex(of: ":"), word.lastIndex(of: ":") == colon else {
            return Entry(host: word.lowercased())
        }
        port = word[colon...]
        return Entry(host: word[..<colon].lowercased(), port: number(port))
    }

    private static func number(_ port: Substring) -> Int? { port.isEmpty ? nil : Int(port.dropFirst()) ?? 0 }

    /// - Parameter host: without brackets.
    func covers(host: String, port: Int) -> Bool {
        if coversAll { return true }
        let host = Self.withoutLastDot(host.lowercased())[...]
        let address = Self.bytes(ofAddress: host)
        return entries.contains { entry in
            if let only = entry.port, only != port { return false }
            guard let address else { return Self.isName(host, within: entry.host[...]) }
            return Self.isAddress(address, within: entry.host)
        }
    }

    private static func isName(_ host: Substring, within entry: Substring) -> Bool {
        let entry = withoutLastDot(entry.hasPrefix(".") ? entry.dropFirst() : entry)
        return !entry.isEmpty && (host == entry || host.hasSuffix("." + entry))
    }

    private static func isAddress(_ address: [UInt8], within entry: String) -> Bool {
        let parts = entry.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let network = bytes(ofAddress: parts[0]), network.count == address.count else { return false }
        guard parts.count == 2 else { return network == address }
        guard let bits = Int(parts[1]), (0...address.count * 8).contains(bits) else { return false }
        return (0..<bits).allSatisfy { bit in
            let mask = UInt8(0x80) >> (bit % 8)
            return address[bit / 8] & mask == network[bit / 8] & mask
        }
    }

    private static func withoutLastDot(_ name: some StringProtocol) -> String {
        String(name.hasSuffix(".") && name.count > 1 ? name.dropLast() : name[...])
    }

    /// Four or sixteen bytes; nil for a name.
    private static func bytes(ofAddress text: Substring) -> [UInt8]? {
        var four = in_addr()
        if inet_pton(AF_INET, String(text), &four) == 1 { return withUnsafeBytes(of: &four) { Array($0) } }
        var six = in6_addr()
        guard inet_pton(AF_INET6, String(text), &six) == 1 else { return nil }
        return withUnsafeBytes(of: &six) { Array($0) }
    }
}
