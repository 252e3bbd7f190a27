import BookModel

/// What an audio file says of itself. Times are in seconds.
package struct MediaInfo: Sendable, Hashable {
    package struct Chapter: Sendable, Hashable {
        package let start: Double
        package let end: Double
        package let title: String?
    }

    /// The most chapters that are kept: the first ones.
    package static let maxChapters = 2000

    /// The format's names, as ffprobe has them: `mp3`, `mov,mp4,m4a,3gp,3g2,mj2`.
    package let container: String
    /// Of the first audio stream: `mp3`, `aac`.
    package let codec: String
    /// Bits a second of the audio stream; of the whole file where the stream does not say.
    package let bitRate: Int?
    /// Samples a second.
    package let sampleRate: Int?
    package let channels: Int?
    /// Of the audio stream; of the whole file where the stream does not say.
    package let duration: Double?
    /// Whether the duration was estimated from the bit rate and the size, because no header has it. It is wrong for MP3 with a
    /// variable bit rate, and good for a constant one.
    package let isDurationEstimated: Bool
    /// Lower-case name → text: those of the file, and of its audio stream what the file lacks.
    package let tags: [String: String]
    /// By their start.
    package let chapters: [Chapter]
    /// Whether it has an attached picture.
    package let hasCover: Bool
}

/// What came of decoding a file.
package enum DecodeVerdict: Sendable, Hashable {
    /// It decoded to its end, so many seconds of audio. Some formats do not say how long they should be (Ogg, MP3 without Xing
    /// header, AAC): a file cut between two packets is whole there, and shorter than expected.
    case whole(seconds: Double)
    /// The audio is damaged, or ends before its header says. An MP3 without Xing header may only have other bytes behind it.
    case broken(at: Double, why: Message)
}
