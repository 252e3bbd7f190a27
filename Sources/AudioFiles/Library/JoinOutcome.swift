import BookModel

/// How books are joined, each into one file or several.
package struct JoinRequest: Sendable {
    package var format: JoinFormat
    /// Bits a second of what is encoded; nil for 64 kbit/s mono and 96 kbit/s stereo.
    package var bitRate: Int?
    /// Seconds of a file at most, where an episode is not longer.
    package var maxPart: Double?
    /// LUFS.
    package var loudness: Double?
    /// An absolute path; nil for the library's folder for joined files.
    package var output: String?
    /// Whether a book is joined of which episodes are missing.
    package var isIncomplete = false
    /// Whether files that booksync did not make are overwritten.
    package var force = false
    package var isDryRun = false

    package init(format: JoinFormat) { self.format = format }
}

/// What became of one file of a book that is joined, or of a book that failed as a whole, or of an episode.
package struct JoinOutcome: Sendable {
    package enum Result: String, Sendable {
        case written, unchanged, planned
        /// An episode that is no audio, of a book that is joined without it.
        case leftOut = "left_out"
        /// A file of the user's stands there.
        case left
        case failed
    }

    package let book: BookIdentity
    package var result: Result
    package var failure: Failure?
    /// As ``JoinedFile/path``; of an episode that is left out its own.
    package var path: String?
    /// How many files the book is joined into.
    package var parts = 1
    /// Which episodes are in the file, by index; this and what follows is nil where nobody looked.
    package var range: Range<Int>?
    package var seconds: Double?
    package var size: Int64?
    package var isEncoded: Bool?
}
