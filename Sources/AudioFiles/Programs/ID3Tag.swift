import BookModel
import Foundation

/// An ID3v2.3 or ID3v2.4 tag, frame by frame, so that frames which nobody here knows stay as they are.
struct ID3Tag {
    struct Frame {
        var id: String
        var flags: [UInt8] = [0, 0]
        var body: [UInt8]
    }

    /// 3 or 4.
    private let version: UInt8
    private(set) var frames: [Frame] = []

    init() { version = 3 }

    /// A new tag.
    init(_ tags: EmbeddedTags) throws {
        self.init()
        set(tags, cover: try tags.cover.map { Array(try Data(contentsOf: URL(filePath: $0))) })
    }

    /// Reads the tag that begins there; the frames of ID3v2.2 are left to others.
    /// - Returns: no tag where there is none that can be read so; and how many bytes it takes up.
    static func read(_ file: FileHandle, at start: Int) throws -> (tag: ID3Tag?, length: Int) {
        try file.seek(toOffset: UInt64(start))
        guard let head = try file.read(upToCount: 10).map(Array.init), head.count == 10, head.starts(with: "ID3".utf8)
        else {
            return (nil, 0)
        }
        let size = number(head[6...], bits: 7)
        let body = try file.read(upToCount: size).map(Array.init) ?? []
        let length = 10 + size + (head[5] & 0x10 == 0 ? 0 : 10)
        return (ID3Tag(version: head[3], flags: head[5], body), length)
    }

    /// id3.org, ID3v2.3 §3 and ID3v2.4 §3 and §4.
    private init?(version: UInt8, flags: UInt8, _ body: [UInt8]) {
        guard version == 3 || version == 4 else { return nil }
        self.version = version
        let bits = version == 3 ? 8 : 7
        var rest = (version == 3 && flags & 0x80 != 0 ? Self.synchronised(body) : body)[...]
        if flags & 0x40 != 0 { rest = rest.dropFirst(Self.number(rest.prefix(4), bits: bits) + (version == 3 ? 4 : 0)) }
        while rest.count >= 10, rest.first != 0 {
            let head = Array(rest.prefix(10))
            // Some programs write plain sizes into ID3v2.4.
            let isPlain = head[4..<8].contains { $0 > 0x7f }
            let size = Self.number(head[4..<8], bits: isPlain ? 8 : bits)
            guard let id = String(validating: head[..<4], as: UTF8.self), rest.count >= 10 + size else { return nil }
            var frame = Frame(id: id, flags: Array(head[8...]), body: Array(rest.dropFirst(10).prefix(size)))
            if version == 4, frame.flags[1] & 0x0c == 0 {
                if frame.flags[1] & 0x02 != 0 { frame.body = Self.synchronised(frame.body) }
                if frame.flags[1] & 0x01 != 0 { frame.body.removeFirst(min(4, frame.body.count)) }
                frame.flags[1] &= ~0x03
            }
            frames.append(frame)
            rest = rest.dropFirst(10 + size)
        }
    }

    /// The tag, without padding.
    var bytes: [UInt8] {
        let body = frames.flatMap { encoded($0) }
        return Array("ID3".utf8) + [version, 0, 0] + Self.bytes(of: body.count, bits: 7) + body
    }

    /// Writes a tag in place of the one that the file begins with, which is not shorter. Blocks on the disk.
    static func replaceTag(of path: String, with tag: [UInt8]) throws {
        let file = try FileHandle(forUpdating: URL(filePath: path))
        defer { try? file.close() }
        let length = try read(file, at: 0).length
        guard length >= tag.count else { throw ToolTrouble.unreadable.failure(path) }
        try file.seek(toOffset: 0)
        let padding = [UInt8](repeating: 0, count: length - tag.count)
        try file.write(contentsOf: Data(tag[..<6] + bytes(of: length - 10, bits: 7) + tag[10...] + padding))
    }

    // MARK: - What is written

    private static let names = [
        "title": "TIT2", "album": "TALB", "artist": "TPE1", "album_artist": "TPE2", "composer": "TCOM", "track": "TRCK",
        "disc": "TPOS", "genre": "TCON", "language": "TLAN",
    ]

    /// What of a file's tags was read as another encoding than it claims, and has a frame of its own.
    static func repaired(_ info: MediaInfo) -> [String: String] {
        info.tags.filter { names[$0.key] != nil && !$0.value.utf8.allSatisfy { $0 < 0x80 } }
    }

    /// Puts these in place of what there is of them.
    mutating func set(_ tags: EmbeddedTags, cover: [UInt8]?) {
        for (name, text) in tags.tags.sorted(by: { $0.key < $1.key }) {
            if name == "date" {
                frames.removeAll { ["TYER", "TDAT", "TIME", "TDRC"].contains($0.id) }
                let digits = text.filter(\.isNumber)
                if version == 4 {
                    frames.append(textFrame("TDRC", text))
                } else {
                    frames.append(textFrame("TYER", String(digits.prefix(4))))
                    if digits.count == 8 {
                        frames.append(textFrame("TDAT", "\(digits.suffix(2))\(digits.dropFirst(4).prefix(2))"))
                    }
                }
            } else if let id = Self.names[name] {
                frames.removeAll { $0.id == id }
                frames.append(textFrame(id, text))
            } else {
                let frame = Frame(id: "TXXX", body: strings([name, text]))
                let described = { (body: [UInt8]) in Self.description(of: body).lowercased() == name.lowercased() }
                frames.removeAll { $0.id == "TXXX" && described($0.body) }
                frames.append(frame)
            }
        }
        if !tags.chapters.isEmpty {
            frames.removeAll { $0.id == "CHAP" || $0.id == "CTOC" }
            frames += contents(count: tags.chapters.count) + tags.chapters.enumerated().map(chapterFrame)
        }
        if let cover {
            // Those of another type, such as the back, stay.
            frames.removeAll { $0.id == "APIC" && [0, 3].contains(Self.pictureType(of: $0.body)) }
            let type = cover.starts(with: [0x89, 0x50]) ? "image/png" : "image/jpeg"
            frames.append(Frame(id: "APIC", body: [0] + Array(type.utf8) + [0, 3, 0] + cover))
        }
    }

    /// ID3v2 Chapter Frame Addendum §3.1.
    private func chapterFrame(_ number: Int, _ chapter: MediaInfo.Chapter) -> Frame {
        let times = [chapter.start, chapter.end].flatMap { Self.bytes(of: Int(clamping: $0 * 1000), bits: 8) }
        let none = [UInt8](repeating: 0xff, count: 8)
        let title = chapter.title.map { encoded(textFrame("TIT2", $0)) } ?? []
        return Frame(id: "CHAP", body: Array("c\(number)\0".utf8) + times + none + title)
    }

    /// ID3v2 Chapter Frame Addendum §3.2. A list has 255 entries at most: longer ones are lists of lists.
    private func contents(count: Int) -> [Frame] {
        func list(_ name: String, flags: UInt8, _ entries: [String]) -> Frame {
            let names = entries.flatMap { Array("\($0)\0".utf8) }
            return Frame(id: "CTOC", body: Array("\(name)\0".utf8) + [flags, UInt8(entries.count)] + names)
        }
        let chapters = (0..<count).map { "c\($0)" }
        guard count > 255 else { return [list("toc", flags: 3, chapters)] }
        let parts = stride(from: 0, to: min(count, 255 * 255), by: 255).map {
            Array(chapters[$0..<min($0 + 255, count)])
        }
        return [list("toc", flags: 3, parts.indices.map { "toc\($0)" })]
            + parts.enumerated().map { list("toc\($0)", flags: 1, $1) }
    }

    private func textFrame(_ id: String, _ text: String) -> Frame { Frame(id: id, body: strings([text])) }

    /// The encoding, and the strings with what separates them.
    private func strings(_ texts: [String]) -> [UInt8] {
        if texts.allSatisfy({ $0.utf8.allSatisfy { $0 < 0x80 } }) {
            return [0] + Array(texts.joined(separator: "\0").utf8)
        }
        if version == 4 { return [3] + Array(texts.joined(separator: "\0").utf8) }
        let encoded = texts.map { text -> [UInt8] in
            [0xff, 0xfe] + Array(text.utf16).flatMap { unit -> [UInt8] in [UInt8(unit & 0xff), UInt8(unit >> 8)] }
        }
        return [1] + Array(encoded.joined(separator: [0, 0]))
    }

    /// What a TXXX frame is about.
    private static func description(of body: [UInt8]) -> String {
        let text = Data(body.dropFirst())
        let encoding: String.Encoding? =
            switch body.first {
            case 0: .isoLatin1
            case 1: .utf16
            case 2: .utf16BigEndian
            case 3: .utf8
            default: nil
            }
        let all = encoding.flatMap { String(data: text, encoding: $0) } ?? ""
        return String(all.prefix { $0 != "\0" })
    }

    /// ID3v2.3 §4.15: behind the encoding and the MIME type.
    private static func pictureType(of body: [UInt8]) -> UInt8? {
        body.dropFirst().firstIndex(of: 0).flatMap { $0 + 1 < body.count ? body[$0 + 1] : nil }
    }

    // MARK: - Numbers

    private func encoded(_ frame: Frame) -> [UInt8] {
        Array(frame.id.utf8) + Self.bytes(of: frame.body.count, bits: version == 3 ? 8 : 7) + frame.flags + frame.body
    }

    private static func number(_ bytes: some Sequence<UInt8>, bits: Int) -> Int {
        bytes.reduce(0) { $0 << bits | Int($1) & (1 << bits - 1) }
    }

    private static func bytes(of number: Int, bits: Int) -> [UInt8] {
        [3, 2, 1, 0].map { UInt8(number >> ($0 * bits) & (1 << bits - 1)) }
    }

    /// Without the zeros that keep programs from taking it for audio. ID3v2.3 §5.
    private static func synchronised(_ bytes: [UInt8]) -> [UInt8] {
        zip(bytes, [0] + bytes).filter { byte, previous in byte != 0 || previous != 0xff }.map(\.0)
    }
}
