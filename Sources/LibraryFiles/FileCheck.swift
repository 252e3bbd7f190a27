import BookModel
import SyncPlanner

/// What was found at the path of a recorded file.
package enum FileCheck: Sendable, Hashable {
    case nothing
    /// Something else than a file stands there.
    case other(FileAttributes.Kind)
    case unreadable(SystemError)
    case file(CheckedFile)
}

/// What a look into a file brought.
package struct CheckedFile: Sendable, Hashable {
    /// As it was opened.
    package var facts: FileAttributes
    /// When the file or what the system notes of it last changed; nanoseconds since 1970.
    package var changeTime: Int64
    /// What it begins with where that is no audio: "an HTML page".
    package var foreignContent: Message?
    /// Lower-case hexadecimal; nil when it was not read to its end.
    package var sha256: String?
    /// Whether it was the same file with the same times after it was read.
    package var isUnchanged: Bool
}
