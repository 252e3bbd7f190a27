/// The audio of one episode of the demo catalog: an ID3v2.4 tag, a frame that tells the length, then the notes of
/// ``DemoClip`` in an order of the episode's own. The same bytes on every machine and in every run; different for each episode.
struct DemoAudio: Sendable {
    let book: DemoBook
    let section: Int

    /// Records of the melody, in the order in which they are played.
    private var melody: [Int] {
        var numbers = DemoNumbers(state: UInt64(book.id) << 20 | UInt64(section))
        // 65 notes of 2,400 bytes are 156 KB, 160 are 384 KB.
        let count = 65 + numbers.next(below: 96)
        var note = numbers.next(below: 8)
        return (0..<count).map { _ in
            // Small steps sing; leaps sound like a telephone.
            note = min(7, max(0, note + numbers.next(below: 5) - 2))
            return note
        }
    }

    /// Seconds.
    var duration: Double {
        let frames = melody.count * DemoClip.framesPerNote
        return Double(frames * DemoClip.samplesPerFrame) / Double(DemoClip.samplesPerSecond)
    }

    /// Bytes, without making them.
    var length: Int { tag.count + DemoClip.bytesPerFrame + melody.count * DemoClip.bytesPerNote }

    var bytes: [UInt8] {
        let melody = melody
        var bytes = tag + Self.infoFrame(frames: melody.count * DemoClip.framesPerNote)
        bytes.reserveCapacity(bytes.count + melody.count * DemoClip.bytesPerNote)
        for note in melody {
            bytes += DemoClip.bytes[(note * DemoClip.bytesPerNote)..<((note + 1) * DemoClip.bytesPerNote)]
        }
        return bytes
    }

    /// A silent frame that tells how many frames and bytes there are (the "Info" form of the Xing header, for a constant
    /// bit rate), so that players need not guess the duration.
    private static func infoFrame(frames: Int) -> [UInt8] {
        func bigEndian(_ number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
        // The header is that of any other frame; nine bytes of side information in mono say that nothing follows. The
        // flags 1 and 2 announce the two numbers.
        let header =
            Array(DemoClip.bytes.prefix(4)) + [UInt8](repeating: 0, count: 9) + Array("Info".utf8) + bigEndian(1 | 2)
            + bigEndian(frames) + bigEndian((frames + 1) * DemoClip.bytesPerFrame)
        return header + [UInt8](repeating: 0, count: DemoClip.bytesPerFrame - header.count)
    }

    private var tag: [UInt8] {
        let frames = [
            ("TIT2", book.episodeName(section)), ("TALB", book.name), ("TPE1", book.author),
            ("TRCK", "\(section)/\(book.sections)"), ("TCON", "Audiobook"),
        ].flatMap { Self.textFrame($0, $1) }
        return Array("ID3".utf8) + [4, 0, 0] + Self.synchsafe(frames.count) + frames
    }

    /// A text frame in UTF-8 (encoding 3).
    private static func textFrame(_ name: String, _ text: String) -> [UInt8] {
        let content = [3] + Array(text.utf8)
        return Array(name.utf8) + synchsafe(content.count) + [0, 0] + content
    }

    /// A number in four bytes of seven bits, so that no tag looks like the beginning of a frame (ID3v2.4 §6.2).
    private static func synchsafe(_ number: Int) -> [UInt8] {
        [21, 14, 7, 0].map { UInt8(truncatingIfNeeded: number >> $0) & 0x7F }
    }
}

/// SplitMix64: numbers that look random and are the same everywhere, which the standard library's are not.
private struct DemoNumbers {
    var state: UInt64

    mutating func next(below limit: UInt64) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((word ^ (word >> 31)) % limit)
    }
}
