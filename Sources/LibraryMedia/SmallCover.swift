import BookModel
import Foundation
import LibraryFiles
import MediaProbe
import Subprocess

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// A smaller copy of a cover, for lists of books; made once, by ffmpeg where that is installed. It lies among what booksync keeps
/// for itself, is called by where the cover is and by what the disk says of it, and can be made again at any time.
package struct SmallCover: Sendable {
    /// Pixels, of the longer side: twice what lists show, for screens of fine pixels.
    private static let side = 480
    /// Covers of fewer bytes are small enough.
    private static let minSize: Int64 = 65_536
    /// Seconds that it may take.
    private static let limit = 20.0

    private let folder: String
    /// Of all copies of the cover at this path, whatever it was.
    private let prefix: String
    /// Absolute.
    private let path: String

    /// - Parameters:
    ///   - cover: its path, relative to the library.
    ///   - facts: of the file that is there.
    package init(of cover: String, _ facts: FileAttributes, in library: String) {
        func hash(_ text: String) -> String { String(ExportDisk.digest(of: Array(text.utf8)).prefix(24)) }
        folder = LibraryFolder.existing(at: library).ownFolder + "/covers"
        prefix = hash(cover) + "-"
        path = "\(folder)/\(prefix)\(hash("\(facts.size) \(facts.modificationTime) \(facts.inode)")).jpg"
    }

    /// - Returns: nil where there is none. Blocks on the disk.
    package func bytes() -> [UInt8]? {
        FileManager.default.contents(atPath: path).map { Array($0) }.flatMap {
            $0.starts(with: [0xff, 0xd8]) ? $0 : nil
        }
    }

    /// Makes the copy of a cover where it is not there yet. Lists show the cover itself where that cannot be done.
    /// - Parameter cover: its path, relative to the library.
    package static func make(of cover: String, in library: String) async {
        do {
            let source = library + "/" + cover
            guard let facts = try await runBlocking({ fileAttributes(source) }), facts.size >= minSize, let program
            else {
                return
            }
            let small = SmallCover(of: cover, facts, in: library)
            guard try await runBlocking({ fileAttributes(small.path) }) == nil else { return }
            try await runBlocking { try small.clear() }
            let temporary = small.path + ".tmp"
            let outcome = try await limited(to: limit) {
                try await Subprocess.run(
                    .path(FilePath(program)),
                    arguments: [
                        "-nostdin", "-v", "error", "-y", "-protocol_whitelist", "file", "-i", "file:\(source)",
                        "-frames:v", "1", "-vf",
                        "scale='min(\(side),iw)':'min(\(side),ih)':force_original_aspect_ratio=decrease",
                        "-q:v", "4", "-f", "mjpeg", "file:\(temporary)",
                    ], output: .discarded, error: .discarded
                ).terminationStatus
            }
            try await runBlocking {
                if outcome == .exited(0) {
                    try FileManager.default.moveItem(atPath: temporary, toPath: small.path)
                } else if fileAttributes(temporary) != nil {
                    try FileManager.default.removeItem(atPath: temporary)
                }
            }
        } catch {
            // A list of books is not worth a word about it.
        }
    }

    /// Makes room: the folder is there, and nothing of what was at the cover's path before.
    private func clear() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasPrefix(prefix) {
            try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
    }

    private static let program = MediaTools.find(in: ProcessInfo.processInfo.environment["PATH"])?.ffmpeg
}
