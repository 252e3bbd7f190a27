import BookModel
import Crypto
import Foundation

/// Bytes that begin with the header of an MP3 frame (MPEG 1 layer III, 128 kbit/s, 44.1 kHz) and go on as noise: the
/// same for the same seed on every machine, different for different seeds.
package func sampleMP3(bytes count: Int, seed: UInt64 = 1) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    let wordCount = (count + 7) / 8
    // Word by word into memory: unoptimised, an append for each byte takes a tenth of the suite's time.
    var bytes = [UInt8](unsafeUninitializedCapacity: wordCount * 8) { buffer, initialized in
        for index in 0..<wordCount {
            UnsafeMutableRawBufferPointer(buffer)
                .storeBytes(of: generator.next().littleEndian, toByteOffset: index * 8, as: UInt64.self)
        }
        initialized = wordCount * 8
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
