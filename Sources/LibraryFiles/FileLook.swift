import BookModel
import SyncPlanner

/// What a look at the place of a recorded file brought.
package enum FileLook: Sendable, Hashable {
    case nothing
    /// Something else than a file stands there.
    case other(FileAttributes.Kind)
    /// - Parameter isDamage: whether the disk itself fails, and not only a permission.
    case unreadable(why: String, isDamage: Bool)
    case file(LookedFile)
}

/// What a look into a file brought.
package struct LookedFile: Sendable, Hashable {
    /// As it was opened.
    package var facts: FileAttributes
    /// When the file or what the system notes of it last changed; nanoseconds since 1970.
    package var changeTime: Int64
    /// What it begins with where that is no audio: "an HTML page".
    package var foreignContent: String?
    /// Lower-case hexadecimal; nil when it was not read to its end.
    package var sha256: String?
    /// Whether it was the same file with the same times after it was read.
    package var isSettled: Bool
}
