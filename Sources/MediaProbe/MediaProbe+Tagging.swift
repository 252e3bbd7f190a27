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
    ///   - output: absolute; what is there is overwritten.
    /// - Throws: ``Failure`` where that is not possible; `CancellationError`.
    package func tag(_ path: String, with tags: EmbeddedTags, to output: String) async throws {
        try await slots.withSlot {
            let info = try await readHeaders(path).info
            guard let container = MediaContainer(info) else {
                throw Failure(
                    .inputOutput, disposition: .skip, what: "\(path) gets no tags",
                    why: "booksync does not write tags into files of its kind, \(info.container)")
            }
            let document = output + ".chapters"
            let target = container == .mp3 ? output + ".id3" : output
            defer { for file in [document, output + ".jpg", output + ".png"] { unlink(file) } }
            defer { if target != output { unlink(target) } }
            let keepsCover = info.hasCover && container.losesCover
            let cover = keepsCover && tags.cover == nil ? try await extractCover(of: path, to: output) : tags.cover
            try await runBlocking {
                var own: [String: String] = [:]
                if container == .ogg {
                    own = info.tags.merging(tags.tags) { $1 }
                    if let cover { own["METADATA_BLOCK_PICTURE"] = try Self.pictureBlock(cover) }
                }
                try Data(tags.document(with: own).utf8).write(to: URL(filePath: document))
            }
            // The pictures of an MP3 come before its audio, of which no more is wanted.
            let options = ["-v", "level+error", "-nostdin", "-y"] + (container == .mp3 ? ["-t", "0.1"] : [])
            let written = try await run(
                try ffmpeg(for: path), on: path, options,
                ["-f", "ffmetadata", "-i", "file:\(document)"] + container.output(tags, cover: cover, of: info)
                    + ["file:\(target)"],
                limits.wholeFile, maxFileSize: try await runBlocking { (fileSize(path) ?? 0) * 2 + (64 << 20) })
            if let trouble = written.trouble { throw trouble.failure(path) }
            if container == .mp3 { try await runBlocking { try Self.exchangeID3(of: path, for: target, to: output) } }
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

    // MARK: - MP3

    /// Writes the ID3v2 tag of `tagged`, and behind it all of `path` that is not its own.
    private static func exchangeID3(of path: String, for tagged: String, to output: String) throws {
        let tag = try FileHandle(forReadingFrom: URL(filePath: tagged))
        let audio = try FileHandle(forReadingFrom: URL(filePath: path))
        guard FileManager.default.createFile(atPath: output, contents: nil) else {
            throw Failure.file("\(output) cannot be written", errno: errno)
        }
        let new = try FileHandle(forWritingTo: URL(filePath: output))
        defer { for file in [tag, audio, new] { try? file.close() } }
        let length = try lengthOfID3(in: tag, at: 0)
        try tag.seek(toOffset: 0)
        try new.write(contentsOf: try tag.read(upToCount: length) ?? Data())
        var start = 0
        while case let length = try lengthOfID3(in: audio, at: start), length > 0 { start += length }
        try audio.seek(toOffset: UInt64(start))
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { chunk.deallocate() }
        while true {
            let count = try systemCall("\(path) cannot be read") {
                read(audio.fileDescriptor, chunk.baseAddress, chunk.count)
            }
            guard count > 0 else { return }
            do {
                try writeAll(UnsafeRawBufferPointer(rebasing: chunk[..<count]), to: new.fileDescriptor)
            } catch {
                throw Failure.file("\(output) cannot be written", errno: error.code)
            }
        }
    }

    /// Bytes of the ID3v2 tag that begins there; 0 where none does. id3.org, ID3v2.3 §3.1 and v2.4 §3.1.
    private static func lengthOfID3(in file: FileHandle, at start: Int) throws -> Int {
        try file.seek(toOffset: UInt64(start))
        guard let header = try file.read(upToCount: 10), header.count == 10, header.starts(with: "ID3".utf8) else { return 0 }
        let bytes = Array(header)
        let size = bytes[6...].reduce(0) { $0 << 7 | Int($1 & 0x7f) }
        return 10 + size + (bytes[5] & 0x10 == 0 ? 0 : 10)
    }
}
