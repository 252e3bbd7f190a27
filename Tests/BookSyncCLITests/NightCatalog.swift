import Foundation
import Support

/// A server with several serials on it, as it is in one night: books of the book-resource API, and a feed.
struct NightCatalog: Sendable {
    struct Item: Sendable {
        var number: Int
        var name: String
        var bytes: [UInt8]
    }

    enum Mood: Sendable {
        case well
        /// Closes every connection without an answer.
        case down
    }

    var mood = Mood.well
    /// Book → its sections.
    var books: [String: [Item]] = [:]
    /// Of the feed, the newest first; each with its age in days.
    var feed: [(item: Item, daysOld: Double)] = []
    /// What a request for a list must carry.
    var token = "first"
    /// Audio paths that are not there.
    var lost: Set<String> = []
    /// Audio paths that answer 429 to their next request.
    var busy: Set<String> = []
    let begin = Date()

    static let listPath = "/list.action"
    static let feedPath = "/serial.xml"

    static func item(_ book: String, _ number: Int, bytes: Int = 20_000) -> Item {
        let seed = UInt64(book.utf8.reduce(0) { $0 * 31 + Int($1) } * 1000 + number)
        return Item(number: number, name: "Episode \(number)", bytes: sampleMP3(bytes: bytes + number, seed: seed))
    }

    mutating func answer(_ request: ServerRequest) -> Reply {
        if mood == .down { return .closeBeforeAnswer }
        if request.path == Self.listPath { return list(request) }
        if request.path == Self.feedPath { return feed(request) }
        if busy.remove(request.path) != nil { return .text("", status: 429, headers: ["Retry-After": "1"]) }
        let parts = request.path.split(separator: "/").map(String.init)
        guard parts.count == 3, parts[0] == "audio", !lost.contains(request.path),
            let number = Int(parts[2].replacing(".mp3", with: "")),
            let item = (books[parts[1]] ?? feed.map(\.item)).first(where: { $0.number == number })
        else { return .notFound }
        return ServerScript.file(item.bytes).answer(request)
    }

    private func list(_ request: ServerRequest) -> Reply {
        guard request.query["token"] == token else { return .text("{\"error\":\"token\"}", status: 401) }
        let book = request.query["bookId"] ?? ""
        let items = request.query["pageNum"] == "1" ? books[book] ?? [] : []
        let elements = items.map { item in
            """
            {"id":\(book)\(item.number),"section":\(item.number),"name":"\(item.name)",\
            "path":"/audio/\(book)/\(item.number).mp3","size":\(item.bytes.count)}
            """
        }
        return .text(
            """
            {"status":0,"msg":null,"sections":\(books[book]?.count ?? 0),"list":[\(elements.joined(separator: ","))]}
            """)
    }

    private func feed(_ request: ServerRequest) -> Reply {
        let tag = "\"\(feed.map { String($0.item.number) }.joined(separator: "-"))\""
        if request.header("If-None-Match") == tag { return .text("", status: 304, headers: ["ETag": tag]) }
        let formatter = ISO8601DateFormatter()
        let host = request.header("Host") ?? ""
        let items = feed.map { entry in
            """
            <item><title>\(entry.item.name)</title><guid>serial-\(entry.item.number)</guid>
            <pubDate>\(formatter.string(from: begin - entry.daysOld * 86400))</pubDate>
            <enclosure url="http://\(host)/audio/serial/\(entry.item.number).mp3" length="\(entry.item.bytes.count)"
            type="audio/mpeg"/></item>
            """
        }
        return .text(
            "<rss version=\"2.0\"><channel><title>Serial</title>\(items.joined())</channel></rss>",
            type: "application/rss+xml", headers: ["ETag": tag])
    }
}
