import BookModel
import Foundation
import LibraryFiles

extension MediaProbe {
    /// Writes a file with tags, of the same audio packets. What it had of tags, chapters and pictures and is not given anew is in it
    /// too.
    ///
    /// Of an MP3 only the ID3v2 tag is written anew: all behind it stays byte for byte, with what encoders note there.
    /// - Parameters:
    ///   - path: absolute.
    ///   - info: what the file says of itself.
    ///   - output: absolute; what is there is overwritten. What is needed on the way stays beside it, under its name with more behind.
    /// - Throws: ``Failure`` where that is not possible; `CancellationError`.
    package func tag(
        _ path: String, _ info: MediaInfo, with tags: EmbeddedTags, to output: String
    ) async throws {
        try await slots.withSlot {
            guard let container = MediaContainer(info) else {
                throw Failure(
                    .temporary, what: "\(path) gets no tags",
                    why: "booksync does not write tags into files of its kind, \(info.container)")
            }
            let document = output + ".chapters"
            let keepsCover = info.hasCover && tags.cover == nil
            if container == .mp3 {
                let own = keepsCover ? try await extractCover(of: path, to: output) : nil
                return try await runBlocking { try Self.exchangeID3(of: path, with: tags, own: own, info, to: output) }
            }
            let cover =
                keepsCover && !container.hasCoverStream ? try await extractCover(of: path, to: output) : tags.cover
            try await runBlocking {
                var own: [String: String] = [:]
                if container.hasComments {
                    own = info.tags.merging(tags.tags) { $1 }
                    own.merge((tags.chapters.isEmpty ? info.chapters : tags.chapters).comments) { $1 }
                }
                if container == .ogg, let cover { own["METADATA_BLOCK_PICTURE"] = try Self.pictureBlock(cover) }
                try Data(tags.document(with: own).utf8).write(to: URL(filePath: document))
            }
            let written = try await run(
                try ffmpeg(for: path), on: path, ["-v", "level+error", "-nostdin", "-y"],
                ["-f", "ffmetadata", "-i", "file:\(document)"] + container.output(tags, cover: cover, of: info)
                    + ["file:\(output)"],
                limits.wholeFile,
                maxFileSize: try await runBlocking {
                    (fileSize(path) ?? 0).multipliedSaturated(by: 2).addingSaturated(64 << 20)
                })
            if let trouble = written.trouble { throw trouble.failure(path) }
        }
    }

    /// - Parameter output: its path without the extension.
    /// - Returns: the path.
    func extractCover(of path: String, to output: String) async throws -> String {
        let picture = try await run(
            try ffmpeg(for: path), on: path, ["-v", "level+error", "-nostdin"],
            ["-map", "0:v:0", "-c", "copy", "-frames:v", "1", "-f", "image2pipe", "-"], limits.wholeFile)
        if let trouble = picture.trouble { throw trouble.failure(path) }
        let cover = output + (picture.bytes.starts(with: [0x89, 0x50]) ? ".png" : ".jpg")
        try await runBlocking { try Data(picture.bytes).write(to: URL(filePath: cover)) }
        return cover
    }

    /// As Ogg keeps a picture: RFC 9639 §8.8, in base64. Its width, height and colours are left open.
    private static func pictureBlock(_ cover: String) throws -> String {
        func number(_ value: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(clamping: value).bigEndian, Array.init) }
        let picture = try Data(contentsOf: URL(filePath: cover))
        let type = Array("image/\(cover.hasSuffix(".png") ? "png" : "jpeg")".utf8)
        let head = number(3) + number(type.count) + type + [UInt8](repeating: 0, count: 20)
        return (Data(head + number(picture.count)) + picture).base64EncodedString()
    }

    /// - Parameter own: the path of the cover that it has, for where its tag cannot be taken over frame by frame.
    private static func exchangeID3(
        of path: String, with tags: EmbeddedTags, own: String?, _ info: MediaInfo, to output: String
    ) throws {
        let audio = try FileHandle(forReadingFrom: URL(filePath: path))
        guard FileManager.default.createFile(atPath: output, contents: nil) else {
            throw Failure.file("\(output) cannot be written", errno: errno)
        }
        let new = try FileHandle(forWritingTo: URL(filePath: output))
        defer { for file in [audio, new] { try? file.close() } }
        let found = try ID3Tag.read(audio, at: 0)
        var (tag, tags, cover) = (found.tag ?? ID3Tag(), tags, tags.cover)
        let kept = found.tag == nil ? info.tags : ID3Tag.repaired(info)
        tags.tags.merge(kept) { wanted, _ in wanted }
        if found.tag == nil {
            cover = cover ?? own
            if tags.chapters.isEmpty { tags.chapters = info.chapters }
        }
        tag.set(tags, cover: try cover.map { Array(try Data(contentsOf: URL(filePath: $0))) })
        try new.write(contentsOf: Data(tag.bytes))
        try audio.seek(toOffset: UInt64(found.length))
        try copyBytes(from: audio.fileDescriptor, at: path, to: new.fileDescriptor, at: output)
    }
}
