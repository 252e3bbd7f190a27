import BookModel
import Foundation
import Subprocess

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// A smaller copy of a cover, for lists of books; made once, by ffmpeg where that is installed. It lies among what booksync keeps
/// for itself, by the digest of the cover, and can be made again at any time.
struct SmallCover: Sendable {
    /// Pixels, of the longer side: twice what lists show, for screens of fine pixels.
    private static let side = 480
    /// Covers of fewer bytes are small enough.
    private static let minSize: Int64 = 65_536
    /// Seconds that it may take.
    private static let limit = 20.0

    /// Absolute.
    let path: String
    private let folder: String

    /// - Parameter digest: SHA-256 of the cover.
    init(of digest: String, in library: String) {
        folder = LibraryFolder.existing(at: library).ownFolder + "/covers"
        path = "\(folder)/\(digest).jpg"
    }

    /// - Returns: nil where there is none. Blocks on the disk.
    func bytes() -> [UInt8]? {
        guard let bytes = FileManager.default.contents(atPath: path).map({ Array($0) }),
            CoverPicture.fileExtension(of: bytes) == "jpg"
        else { return nil }
        return bytes
    }

    /// Blocks on the disk.
    func delete() throws {
        if fileSize(path) != nil { try FileManager.default.removeItem(atPath: path) }
    }

    /// Makes it where it is not there yet. Lists show the cover itself where that cannot be done.
    /// - Parameter cover: absolute path.
    func make(from cover: String) async {
        let (path, folder) = (path, folder)
        let temporary = path + ".tmp"
        do {
            let isWanted = try await offPool { (fileSize(cover) ?? 0) >= Self.minSize && fileSize(path) == nil }
            guard isWanted, let program = Self.program else { return }
            try await offPool {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            }
            let outcome = try await limited(to: Self.limit) {
                try await Subprocess.run(
                    .path(FilePath(program)),
                    arguments: [
                        "-nostdin", "-v", "error", "-y", "-protocol_whitelist", "file", "-i", "file:\(cover)",
                        "-frames:v", "1", "-vf",
                        "scale='min(\(Self.side),iw)':'min(\(Self.side),ih)':force_original_aspect_ratio=decrease",
                        "-q:v", "4", "-f", "mjpeg", "file:\(temporary)",
                    ], output: .discarded, error: .discarded
                ).terminationStatus
            }
            try await offPool {
                if outcome == .exited(0) {
                    try FileManager.default.moveItem(atPath: temporary, toPath: path)
                } else {
                    try FileManager.default.removeItem(atPath: temporary)
                }
            }
        } catch {
            // A list of books is not worth a word about it.
        }
    }

    private static let program: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.map { "\($0)/ffmpeg" }.first(where: FileManager.default.isExecutableFile)
    }()
}
