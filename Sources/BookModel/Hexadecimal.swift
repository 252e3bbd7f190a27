extension Sequence<UInt8> {
    /// Two lower-case digits a byte.
    package var hexadecimal: String {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
        var text: [UInt8] = []
        text.reserveCapacity(2 * underestimatedCount)
        for byte in self {
            text.append(digit(byte >> 4))
            text.append(digit(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }
}
