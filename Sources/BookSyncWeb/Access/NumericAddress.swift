import BookModel
import Transport

/// An IP address as it is written in numbers.
package enum NumericAddress: Sendable, Hashable {
    case four([UInt8])
    case six([UInt8])

    /// - Returns: nil for anything else, the short and the octal forms of IPv4 included.
    package init?(_ text: String) {
        guard let bytes = AddressBlock.bytes(of: text) else { return nil }
        // RFC 4291 §2.5.5.2: what an IPv6 socket calls a client that came over IPv4.
        let isMapped =
            bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        self = isMapped ? .four(Array(bytes[12...])) : bytes.count == 4 ? .four(bytes) : .six(bytes)
    }

    /// 4 or 16.
    package var bytes: [UInt8] {
        switch self {
        case .four(let bytes), .six(let bytes): bytes
        }
    }

    package var isLoopback: Bool {
        switch self {
        case .four(let bytes): bytes[0] == 127
        case .six(let bytes): bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
        }
    }

    /// What one household or one machine has: the address, of IPv6 its first 64 bits.
    package var network: String {
        switch self {
        case .four(let bytes): bytes.map(String.init).joined(separator: ".")
        case .six(let bytes): bytes.prefix(8).hexadecimal
        }
    }
}
