import Foundation

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
            folders.map { "\($0)/\(name)" }.first { path in
                var status = stat()
                return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
            }
        }
        return find("ffprobe").map { MediaTools(ffprobe: $0, ffmpeg: find("ffmpeg")) }
    }
}
