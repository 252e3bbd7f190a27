import BookModel
import Settings

/// What became of one file of an export.
package struct ExportOutcome: Sendable {
    package enum Result: Sendable {
        case written
        /// It is there already, as it would be written.
        case unchanged
        /// There is nothing to write it of, or nowhere to write it to.
        case nothing(why: Message)
        /// The user's own file stands there.
        case left(Failure)
        case failed(Failure)

        /// The word in `--json`.
        package var keyword: String {
            switch self {
            case .written: "written"
            case .unchanged: "unchanged"
            case .nothing: "nothing"
            case .left: "left"
            case .failed: "failed"
            }
        }
    }

    package var book: BookIdentity
    package var kind: ExportKind
    /// Relative to the library; nil where nothing was to be written.
    package var path: String?
    package var result: Result
    /// Whether a server did not answer.
    var isUnanswered = false

    /// Why it was not written; nil where it was, or need not be.
    package var failure: Failure? {
        switch result {
        case .left(let failure), .failed(let failure): failure
        case .written, .unchanged, .nothing: nil
        }
    }
}
