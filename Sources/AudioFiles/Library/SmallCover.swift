import BookModel
import Foundation
import LibraryFiles

/// A smaller copy of a cover, for lists of books; made once, by ffmpeg where that is installed. It lies among what booksync keeps
/// for itself, is called by where the cover is and by what the disk says of it, and can be made again at any time. A cover of which
/// none can be made has an empty one, so that this is tried once.
package struct SmallCover: Sendable {
    /// Pixels, of the longer side: twice what lists show, for screens of fine pixels.
    private static let side = 480
    private let source: String
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
        source = library + "/" + cover
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

    /// Makes the copy of the cover at a path of the library, if there is one.
    package static func make(of cover: String, in library: String) async {
        let facts = try? await runBlocking { fileAttributes(library + "/" + cover) }
        if let facts { await SmallCover(of: cover, facts, in: library).make() }
    }

    /// Makes the copy where it is not there yet. Lists show a drawn cover where that cannot be done.
    package func make() async {
        do {
            guard let probe = Self.probe, try await runBlocking({ fileAttributes(path) }) == nil else { return }
            try await runBlocking { try clear() }
            let temporary = path + ".tmp"
            let isMade = try await probe.shrink(source, to: Self.side, at: temporary)
            try await runBlocking {
                if isMade {
                    try FileManager.default.moveItem(atPath: temporary, toPath: path)
                } else {
                    try Data().write(to: URL(filePath: path))
                    if fileAttributes(temporary) != nil { try FileManager.default.removeItem(atPath: temporary) }
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

    /// One for all, so that few covers are made at once.
    private static let probe = MediaTools.find(in: ProcessInfo.processInfo.environment["PATH"]).map {
        MediaProbe(tools: $0)
    }
}
