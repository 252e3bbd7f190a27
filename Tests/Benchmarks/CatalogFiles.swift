import Foundation
import Support

/// Writes what the web server serves: audio, and the pages of a book-resource catalog that lists it.
struct CatalogFiles {
    let workspace: Workspace

    /// As ``writeAudio(of:sizes:)``, with files of one size.
    func writeAudio(of book: String, files: Int, bytes: Int) throws {
        try writeAudio(of: book, sizes: Array(repeating: bytes, count: files))
    }

    /// Files that look like MP3 and are all different, `audio/BOOK/1.mp3` and on.
    func writeAudio(of book: String, sizes: [Int]) throws {
        let folder = try workspace.emptyFolder("audio/\(book)")
        // A small block over and over, marked in each place: the benchmark must not grow by what it writes.
        var block = sampleMP3(bytes: min(sizes.max() ?? 0, 1 << 16))
        for (file, bytes) in zip(1..., sizes) {
            let descriptor = open("\(folder)/\(file).mp3", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
            guard descriptor >= 0 else { throw MeasuredProcess.Failed(description: "no audio can be written") }
            defer { close(descriptor) }
            var written = 0
            while written < bytes {
                for (index, byte) in "\(file) \(written)".utf8.enumerated() { block[64 + index] = byte }
                let count = write(descriptor, block, min(block.count, bytes - written))
                guard count > 0 else { throw MeasuredProcess.Failed(description: "no audio can be written") }
                written += count
            }
        }
    }

    /// As ``writePages(of:sizes:pageSize:audioAt:)``, with episodes of one size.
    func writePages(of book: String, episodes: Int, bytes: Int, pageSize: Int, audioAt address: String?) throws {
        try writePages(
            of: book, sizes: Array(repeating: bytes, count: episodes), pageSize: pageSize, audioAt: address)
    }

    /// The pages of a book with one episode for each size.
    /// - Parameter audioAt: where its files are; nil for a book whose episodes are all locked.
    func writePages(of book: String, sizes: [Int], pageSize: Int, audioAt address: String?) throws {
        let folder = try workspace.emptyFolder("catalog/\(book)")
        let episodes = sizes.count
        for page in 0..<pages(episodes: episodes, pageSize: pageSize) {
            let sections = (page * pageSize + 1)...min((page + 1) * pageSize, episodes)
            let list = sections.map { section in
                let path = address.map { "\"\($0)/\(section).mp3\"" } ?? "null"
                return """
                    {"id":\(book)\(100_000 + section),"section":\(section),"name":"第\(section)集_回到古代当兽医",\
                    "path":\(path),"size":\(sizes[section - 1]),"length":600,"payType":0,"feeType":0,"buy":1,"downPrice":0.0,\
                    "listenPrice":0.0,"hasLyric":0,"plays":"12345","onlineTime":1700000000000}
                    """
            }
            let text = """
                {"status":0,"msg":null,"bookId":\(book),"sections":\(episodes),"list":[\(list.joined(separator: ","))]}
                """
            try text.write(toFile: "\(folder)/\(page + 1).json", atomically: false, encoding: .utf8)
        }
    }

    func pages(episodes: Int, pageSize: Int) -> Int { (episodes + pageSize - 1) / pageSize }
}
