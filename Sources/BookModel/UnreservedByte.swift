extension UInt8 {
    /// Whether it stands for itself anywhere in an address: letters, digits and `-._~` (RFC 3986 §2.3).
    package var isUnreserved: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~".utf8.contains(self)
        }
    }
}
