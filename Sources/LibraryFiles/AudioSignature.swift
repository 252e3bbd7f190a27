import BookModel

/// Tells audio from the pages that servers send in its place, by the first bytes.
package enum AudioSignature {
    /// How many first bytes are worth waiting for.
    package static let wanted = 512

    /// - Parameter bytes: the first bytes of the body; fewer than ``wanted`` only when the body has no more.
    /// - Returns: what the bytes are instead of audio, or nil when they may be audio. Bytes that are neither known audio
    ///   nor text pass: encoders put all sorts of padding in front.
    package static func foreignContent(in bytes: some Collection<UInt8>) -> Message? {
        let head = Array(bytes.prefix(wanted))
        if isKnownAudio(head) { return nil }
        if head.starts(with: Array("%PDF-".utf8)) { return "a PDF document" }
        if head.starts(with: [0x50, 0x4B, 0x03, 0x04]) { return "a ZIP archive" }
        if head.starts(with: [0x1F, 0x8B]) { return "compressed data" }
        if images.contains(where: head.starts) { return "an image" }
        if isUTF16(head) { return "text" }
        guard !head.isEmpty, hasOnlyTextControls(head) else { return nil }
        let text = String(decoding: head, as: UTF8.self).lowercased()
        let start = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        // Whatever encoding a page is in (many are in GBK), its markup is ASCII.
        if start.hasPrefix("<!doctype html") || start.hasPrefix("<") && start.contains("<html") {
            return "an HTML page"
        }
        if start.hasPrefix("#extm3u") || start.hasPrefix("[playlist]") { return "a playlist" }
        if start.hasPrefix("<") { return "an XML document" }
        if start.hasPrefix("{") || start.hasPrefix("[") { return "a JSON document" }
        // Encoders of audio pad with 0xFF. In some encodings it is a letter, which does not begin a text.
        let isPadded = head[0] == 0xFF || head.split { $0 != 0xFF }.contains { $0.count > 3 }
        return isPadded ? nil : "text"
    }

    /// Whether the first bytes are those of an audio format that is known here.
    package static func isKnownAudio(_ head: [UInt8]) -> Bool {
        func begins(_ text: String, at offset: Int = 0) -> Bool { head.dropFirst(offset).starts(with: text.utf8) }
        if begins("ID3") || begins("OggS") || begins("fLaC") || begins("#!AMR") || begins("ADIF") { return true }
        if begins("RIFF"), begins("WAVE", at: 8) { return true }
        if begins("ftyp", at: 4) || begins("MAC ") || begins("wvpk") { return true }
        // The GUID of an ASF header (WMA).
        if head.starts(with: [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11]) { return true }
        // A text in UTF-16 begins so, and no layer of MPEG audio that is in use.
        if head.starts(with: [0xFF, 0xFE]) { return false }
        // Eleven set bits begin an MPEG audio frame, twelve an ADTS frame.
        return head.count >= 2 && head[0] == 0xFF && head[1] & 0xE0 == 0xE0
    }

    /// Text holds no control characters but those that lay it out.
    private static func hasOnlyTextControls(_ head: [UInt8]) -> Bool {
        head.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D || $0 == 0x0C }
    }

    /// By its byte order mark, or by the zeros in every other byte of markup.
    private static func isUTF16(_ head: [UInt8]) -> Bool {
        if head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF]) { return true }
        return [0, 1].contains { zeros in
            head.count >= 8
                && head.indices.allSatisfy { index in
                    index % 2 == zeros ? head[index] == 0 : hasOnlyTextControls([head[index]])
                }
        }
    }

    private static let images: [[UInt8]] = [[0xFF, 0xD8, 0xFF], [0x89, 0x50, 0x4E, 0x47], Array("GIF8".utf8)]
}
