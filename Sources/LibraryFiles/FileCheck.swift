import BookModel

/// What was found at the path of a recorded file.
package enum FileCheck: Sendable, Hashable {
    case nothing
    /// Something else than a file stands there.
    case other(FileAttributes.Kind)
    case unreadable(SystemError)
    case file(ExaminedFile)
}
