import BookModel
import Transport

/// An IP address as it is written in numbers.
package struct NumericAddress: Sendable, Hashable {
    /// 4 of IPv4, or 16 of IPv6.
    package let bytes: [UInt8]

    /// - Returns: nil for anything else, the short and the octal forms of IPv4 included.
    package init?(_ text: String) {
        guard let bytes = AddressBlock.bytes(of: text) else { return nil }
        // RFC 4291 §2.5.5.2: what an IPv6 socket calls a client that came over IPv4.
        let isMapped =
            bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        self.bytes = isMapped ? Array(bytes[12...]) : bytes
    }

    package var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// What one household or one machine has: the address, of IPv6 its first 64 bits.
    package var network: String {
        bytes.count == 4 ? bytes.map(String.init).joined(separator: ".") : bytes.prefix(8).hexadecimal
    }
}
