import BookModel
import MediaProbe

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
    /// Whether a book is joined of which episodes are missing. Nil leaves it without a word.
    package var isIncomplete: Bool? = false
    /// Whether files that booksync did not make are overwritten.
    package var force = false
    package var isDryRun = false

    package init(format: JoinFormat) { self.format = format }
}

/// What became of one file of a book that is joined.
package struct JoinOutcome: Sendable {
    package enum Result: String, Sendable {
        case written, unchanged, planned
        /// A file of the user's stands there.
        case left
        case failed
    }

    package var book: BookIdentity
    /// As ``JoinedFile/path``; nil where the book failed as a whole.
    package var path: String?
    /// How many files the book is joined into.
    package var parts = 1
    /// How many episodes are in the file; nil where nobody looked.
    package var episodes: Int?
    /// Of the file; nil where nobody looked.
    package var seconds: Double?
    package var size: Int64?
    package var isEncoded: Bool?
    package var result: Result
    package var failure: Failure?

    package init(book: BookIdentity, result: Result, failure: Failure? = nil) {
        (self.book, self.result, self.failure) = (book, result, failure)
    }
}
