import BookModel
import Crypto
import Foundation

/// Bytes that begin with the header of an MP3 frame (MPEG 1 layer III, 128 kbit/s, 44.1 kHz) and go on as noise: the
/// same for the same seed on every machine, different for different seeds.
package func sampleMP3(bytes count: Int, seed: UInt64 = 1) -> [UInt8] {
    // SplitMix64: a few lines, no state to share, and any seed will do.
    var state = seed
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        word ^= word >> 31
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift))) }
    }
    bytes.removeLast(bytes.count - count)
    for (index, byte) in [UInt8](arrayLiteral: 0xFF, 0xFB, 0x90, 0x64).prefix(count).enumerated() {
        bytes[index] = byte
    }
    return bytes
}

/// Lower-case hexadecimal SHA-256.
package func sha256(_ bytes: some DataProtocol) -> String {
    SHA256.hash(data: bytes).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}

extension Book {
    package static func sample(
        source: String = "demo", id: String = "30776", title: String = "回到古代当兽医", author: String? = "三分流氓",
        declaredEpisodes: Int? = nil, isComplete: Bool = true
    ) -> Book {
        Book(
            identity: BookIdentity(source: source, id: id), title: title, author: author,
            declaredEpisodes: declaredEpisodes, isComplete: isComplete)
    }
}

extension Episode {
    /// An episode of that section: its key is `301500957 + section`, its name `第007集_回到古代当兽医`.
    package static func sample(
        _ section: Int, book: BookIdentity = BookIdentity(source: "demo", id: "30776"), name: String? = nil,
        address: String? = "http://127.0.0.1:9/audio.mp3", size: Int64? = nil, duration: Double? = nil
    ) -> Episode {
        let digits = String(section)
        let padded = String(repeating: "0", count: max(0, 3 - digits.count)) + digits
        return Episode(
            identity: EpisodeIdentity(book: book, key: String(301_500_957 + section)), section: section,
            name: name ?? "第\(padded)集_回到古代当兽医", address: address.map { ResourceAddress($0) }, size: size,
            duration: duration)
    }

    /// A locked episode: listed, without an address.
    package static func locked(_ section: Int) -> Episode { sample(section, address: nil) }
}
