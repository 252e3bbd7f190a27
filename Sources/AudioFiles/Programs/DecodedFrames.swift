/// Adds up what ffmpeg decodes, from its `framecrc` output: lines of "stream, dts, pts, duration, size, checksum", after some
/// that begin with `#`, of which `#tb 0: 1/44100` has the seconds of a unit.
struct DecodedFrames {
    /// Seconds of a unit; nil before the decoder has begun.
    private(set) var unit: Double?
    private var units = 0.0
    private var end: Double?
    /// The first place where audio is missing, as after a damaged page of Ogg: seconds of audio before it, and its own.
    private(set) var gap: (start: Double, seconds: Double)?

    /// Seconds of audio.
    var seconds: Double { units * (unit ?? 0) }

    /// - Returns: nil where that is no such output. What follows the last newline is left out.
    init?(_ output: [UInt8]) {
        let lines = output.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        for line in lines where !read(String(decoding: line, as: UTF8.self)) { return nil }
    }

    private mutating func read(_ line: String) -> Bool {
        let words = line.split { " ,:/".contains($0) }
        if line.hasPrefix("#") {
            guard words.first == "#tb" else { return true }
            guard words.count == 4, let one = Double(words[2]), let many = Double(words[3]) else { return false }
            unit = one / many
            return one > 0 && many > 0
        }
        guard let unit, words.count >= 5, let time = Int64(words[2]), let length = Int64(words[3]) else { return false }
        // Time stamps of Matroska are milliseconds, and those of joined files are not exact.
        if let end, gap == nil, (Double(time) - end) * unit > 0.5 { gap = (seconds, (Double(time) - end) * unit) }
        end = Double(time) + Double(length)
        units += Double(length)
        return true
    }
}
