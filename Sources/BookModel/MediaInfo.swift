/// What an audio file says of itself. Times are in seconds.
package struct MediaInfo: Sendable, Hashable, Codable {
    package struct Chapter: Sendable, Hashable, Codable {
        package let start: Double
        package let end: Double
        package let title: String?

        package init(start: Double, end: Double, title: String?) {
            self.start = start
            self.end = end
            self.title = title
        }
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
    /// By their start: the file's own or, where it has none, the catalog's.
    package var chapters: [Chapter]
    /// Whether they are the catalog's.
    package var hasCatalogChapters: Bool? = nil
    /// Whether it has an attached picture.
    package let hasCover: Bool
    /// What must be the same in two files of the codec for the packets of one to follow those of the other; nil where the file was
    /// looked into before that was noted.
    package let setup: String?
    /// Packets of the audio stream, where a header counts them.
    package let packets: Int?

    package init(
        container: String, codec: String, bitRate: Int? = nil, sampleRate: Int? = nil, channels: Int? = nil,
        duration: Double? = nil, isDurationEstimated: Bool = false, tags: [String: String] = [:],
        chapters: [Chapter] = [], hasCover: Bool = false, setup: String? = nil, packets: Int? = nil
    ) {
        self.container = container
        self.codec = codec
        self.bitRate = bitRate
        self.sampleRate = sampleRate
        self.channels = channels
        self.duration = duration
        self.isDurationEstimated = isDurationEstimated
        self.tags = tags
        self.chapters = chapters
        self.hasCover = hasCover
        self.setup = setup
        self.packets = packets
    }

    /// Gives a file without chapters those of the catalog.
    package mutating func takeCatalogs(_ chapters: [Chapter]) {
        guard self.chapters.isEmpty, !chapters.isEmpty else { return }
        (self.chapters, hasCatalogChapters) = (chapters, true)
    }
}

/// The part of ``MediaInfo`` that lists of episodes show.
package struct MediaSummary: Sendable, Hashable {
    /// Seconds; nil where no header has it.
    package var duration: Double?
    /// How many chapters it has.
    package var chapters: Int

    package init(duration: Double?, chapters: Int) {
        self.duration = duration
        self.chapters = chapters
    }
}
