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
        let address = AddressBlock.bytes(of: host)
        return entries.contains { entry in
            if let only = entry.port, only != port { return false }
            guard let address else { return Self.isName(host, within: entry.host[...]) }
            return AddressBlock(entry.host)?.contains(address) == true
        }
    }

    private static func isName(_ host: Substring, within entry: Substring) -> Bool {
        let entry = withoutLastDot(entry.hasPrefix(".") ? entry.dropFirst() : entry)
        return !entry.isEmpty && (host == entry || host.hasSuffix("." + entry))
    }

    private static func withoutLastDot(_ name: some StringProtocol) -> String {
        String(name.hasSuffix(".") && name.count > 1 ? name.dropLast() : name[...])
    }
}
