import Foundation

/// A feed that changes from night to night, and the audio of all that it ever had.
package struct ServedFeed: Sendable {
    package struct Item: Sendable {
        /// Which episode it really is: that of its audio.
        package let id: Int
        package var title: String
        package var guid: String?
        /// Seconds since 1970; nil for no date.
        package var date: Int?
        /// What the feed says of the length; nil for nothing.
        package var length: Int?
        package var path: String

        package init(_ id: Int) {
            self.id = id
            title = "Episode \(id)"
            guid = "urn:episode:\(id)"
            date = 1_700_000_000 + id * 86_400
            length = ServedFeed.audio(id).count
            path = "/audio/\(id).mp3"
        }
    }

    package var path = "/feed.xml"
    /// As feeds list them, the newest first.
    package var items: [Item] = []
    package var title = "Serial"
    /// In the channel, beside its title.
    package var head = ""
    /// Path → where it leads, with which status.
    package var redirects: [String: (status: Int, to: String)] = [:]
    /// What a request for the feed must carry.
    package var token: String?
    /// Episodes whose audio is not there.
    package var lost: Set<Int> = []

    package init() {}

    package static func audio(_ id: Int) -> [UInt8] { sampleMP3(bytes: 12_000 + id, seed: UInt64(id)) }

    package func answer(_ request: ServerRequest) -> Reply {
        if let (status, target) = redirects[request.path] {
            return .text("", status: status, headers: ["Location": target])
        }
        if request.path == path {
            guard token == nil || request.query["auth"] == token else { return .text("", status: 403) }
            return .text(document(at: request.header("Host") ?? ""), type: "application/rss+xml")
        }
        // The name says whose it is, whatever stands before it.
        guard let id = request.path.split(separator: "/").last.flatMap({ Int($0.replacing(".mp3", with: "")) }),
            request.path.hasSuffix(".mp3"), !lost.contains(id)
        else { return .notFound }
        return ServerScript.file(Self.audio(id)).answer(request)
    }

    private func document(at host: String) -> String {
        let items = items.map { item in
            let date = item.date.map {
                "<pubDate>\(ISO8601DateFormatter().string(from: Date(timeIntervalSince1970: Double($0))))</pubDate>"
            }
            return """
                <item><title>\(item.title)</title>\(item.guid.map { "<guid isPermaLink=\"false\">\($0)</guid>" } ?? "")\(date ?? "")
                <enclosure url="http://\(host)\(item.path)" length="\(item.length ?? 0)" type="audio/mpeg"/></item>
                """
        }
        return """
            <rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><title>\(title)</title>\(head)
            \(items.joined(separator: "\n"))</channel></rss>
            """
    }
}
