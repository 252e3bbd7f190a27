import Foundation
import Support

/// The catalog that `Fixtures/store/make-store` served to old versions of the program, and its audio.
struct RecordedCatalog: Sendable {
    /// Book → title and number of episodes.
    static let books = ["10": ("长河", 1200), "20": ("群山", 500), "30": ("小城", 60), "40": ("夜航", 300)]
    /// The episodes of book 40 that the killed run had in part.
    static let begun = 25...28

    /// The bytes of an episode.
    static func audio(_ book: String, _ section: Int) -> [UInt8] {
        let length = book == "40" && begun.contains(section) ? 200_000 : 300 + section % 97
        let text = Array("\(book)/\(section) ".utf8)
        return [0xFF, 0xFB, 0x90, 0x64] + (0..<length).map { text[$0 % text.count] }
    }

    static let script = ServerScript { request in
        let parts = request.path.split(separator: "/").map(String.init)
        if parts.first == "audio", let book = parts.dropFirst().first, let last = parts.last?.dropLast(4),
            let section = Int(last), book != "30" || section != 7
        {
            let file = ServedFile(audio(book, section), etag: "\"\(book)-\(section)\"")
            return ServerScript.file(file).answer(request)
        }
        guard let id = request.query["bookId"] ?? request.query["id"], let (title, count) = books[id] else {
            return .notFound
        }
        if request.path == "/detail" {
            return .text(#"{"status":0,"data":{"id":\#(id),"name":"\#(title)","author":"林周"}}"#)
        }
        return .text(listing(of: id, title: title, count: count, query: request.query))
    }

    private static func listing(of book: String, title: String, count: Int, query: [String: String]) -> String {
        let size = query["pageSize"].flatMap { Int($0) } ?? 50
        let first = ((query["pageNum"].flatMap { Int($0) } ?? 1) - 1) * size + 1
        let elements = (first..<first + size).prefix { $0 <= count }.map { section in
            let corrected = book == "30" && [10, 11].contains(section) ? "（修订）" : ""
            let number = String(repeating: "0", count: 4 - String(section).count) + String(section)
            let path = section.isMultiple(of: 50) ? "null" : "\"/audio/\(book)/\(section).mp3\""
            return """
                {"id":\((Int(book) ?? 0) * 100_000 + section),"section":\(section),\
                "name":"第\(number)集 \(title)\(corrected)","path":\(path),"size":\(audio(book, section).count),\
                "length":\(600 + section),"lastModify":\(1_700_000_000_000 + section)}
                """
        }
        return """
            {"status":0,"msg":null,"bookId":\(book),"sections":\(count),"list":[\(elements.joined(separator: ","))]}
            """
    }

    static func configuration(port: Int) -> String {
        """
        default-source: cat
        downloads: { retries: 0, min-free-space: 1M }
        sources:
          cat:
            type: book-resource
            url: http://127.0.0.1:\(port)/list
            detail-url: http://127.0.0.1:\(port)/detail
            allow-private-addresses: true
        subscriptions:
          - { book: "20", latest: 30 }
        """
    }
}
