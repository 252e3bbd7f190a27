import BookModel
import Foundation
import LibraryFiles

/// Where the programs are that read audio files: absolute paths.
package struct MediaTools: Sendable, Hashable {
    package let ffprobe: String
    /// Nil where it is not installed. Decoding and hashing need it, information does not.
    package let ffmpeg: String?

    /// Looks for both.
    /// - Parameter path: folders separated by colons, as in `PATH`; those that are not absolute are left out.
    /// - Returns: nil where there is no ffprobe.
    package static func find(in path: String?) -> MediaTools? {
        let folders = (path ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
        func find(_ name: String) -> String? {
            folders.map { "\($0)/\(name)" }.first { fileAttributes($0)?.kind == .file && access($0, X_OK) == 0 }
        }
        return find("ffprobe").map { MediaTools(ffprobe: $0, ffmpeg: find("ffmpeg")) }
    }
}
