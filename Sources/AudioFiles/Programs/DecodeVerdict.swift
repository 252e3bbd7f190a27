import BookModel

/// What came of decoding a file.
package enum DecodeVerdict: Sendable, Hashable {
    /// It decoded to its end, so many seconds of audio. Some formats do not say how long they should be (Ogg, MP3 without Xing
    /// header, AAC): a file cut between two packets is whole there, and shorter than expected.
    case whole(seconds: Double)
    /// The audio is damaged, or ends before its header says. An MP3 without Xing header may only have other bytes behind it.
    case broken(at: Double, why: Message)
}
