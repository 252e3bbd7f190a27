extension Unicode.Scalar {
    /// Whether it has readers see another text than there is: bidirectional embeddings, overrides and isolates (UAX #9 §2),
    /// tag characters, and byte order marks inside a text.
    package var isMisleading: Bool {
        switch value {
        case 0x202A...0x202E, 0x2066...0x2069, 0xFEFF, 0xE0000...0xE007F: true
        default: false
        }
    }
}
