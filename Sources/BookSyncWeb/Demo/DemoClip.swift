import BookModel

/// The melody that the demo catalog's audio is built from: our own, made by `Fixtures/demo/make-clip`.
enum DemoClip {
    /// MPEG 2 layer III, 32 kbit/s, 24 kHz, mono, no bit reservoir: frames stand alone and can be put in any order.
    static let bytesPerFrame = 96
    static let framesPerNote = 25
    static let samplesPerFrame = 576
    static let samplesPerSecond = 24000
    static let bytesPerNote = bytesPerFrame * framesPerNote

    /// Eight notes, one after the other.
    static let bytes = EmbeddedFile.bytes("Melody.mp3")
}
