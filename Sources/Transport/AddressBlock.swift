import Foundation

/// A block of IP addresses: a single address, or a network as `address/bits`.
package struct AddressBlock: Sendable, Hashable {
    private let network: [UInt8]
    private let bits: Int

    /// - Returns: nil when the text is neither.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let network = Self.bytes(of: parts[0]) else { return nil }
        self.network = network
        guard parts.count == 2 else {
            bits = network.count * 8
            return
        }
        guard let bits = Int(parts[1]), (0...network.count * 8).contains(bits) else { return nil }
        self.bits = bits
    }

    /// - Parameter address: four bytes of IPv4, or sixteen of IPv6. A block holds no addresses of the other version.
    func contains(_ address: [UInt8]) -> Bool {
        guard address.count == network.count else { return false }
        return (0..<bits).allSatisfy { bit in
            let mask = UInt8(0x80) >> (bit % 8)
            return address[bit / 8] & mask == network[bit / 8] & mask
        }
    }

    /// Four or sixteen bytes; nil for a name, and for the short and the octal forms of IPv4.
    package static func bytes(of text: some StringProtocol) -> [UInt8]? {
        var four = in_addr()
        if inet_pton(AF_INET, String(text), &four) == 1 { return withUnsafeBytes(of: &four) { Array($0) } }
        var six = in6_addr()
        guard inet_pton(AF_INET6, String(text), &six) == 1 else { return nil }
        return withUnsafeBytes(of: &six) { Array($0) }
    }
}
