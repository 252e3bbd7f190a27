import Foundation
import Support
import Synchronization

extension ProductTests {
    /// An archive whose collection changes from night to night: two books to a page of its list.
    final class CollectedArchive: Sendable {
        struct Item {
            var title: String
            var language = "eng"
            var files = 1
        }

        struct State {
            var items: [String: Item] = [:]
            /// What it says of how many items there are, where that is wrong.
            var total: Int?
            /// The page that it does not give, counted from 0.
            var brokenPage: Int?
            var knowsCursors = true
            /// Listed, and not there.
            var brokenItem: String?
            /// The page that it begins, and does not end before the gate opens.
            var stall: (page: Int, gate: Gate)?
            /// Whether there is always one more page of the same.
            var isEndless = false
        }

        let state: Mutex<State>

        init(_ items: [String: Item]) { state = Mutex(State(items: items)) }

        func change(_ change: @Sendable (inout State) -> Void) { state.withLock { change(&$0) } }

        /// No text: that would be taken for an error page.
        static func audio(_ item: String, _ number: Int) -> [UInt8] {
            sampleMP3(bytes: 4) + Array("\(item) \(number) audio".utf8).map { $0 | 0x80 }
        }

        func answer(_ request: ServerRequest) -> Reply {
            let state = state.withLock { $0 }
            let parts = request.path.split(separator: "/").map(String.init)
            if request.path == "/services/search/v1/scrape" {
                let cursor = request.query["cursor"]
                var reply = Self.list(cursor, state)
                if let stall = state.stall, cursor == "\(stall.page * 2)" {
                    reply.ending = .stallAfter(bytes: 10, until: stall.gate)
                }
                return reply
            }
            if request.path == "/advancedsearch.php" {
                let items = state.items.sorted { $0.key < $1.key }.map { Self.entry($0, $1) }
                return .text(#"{"response":{"numFound":7,"docs":[\#(items.joined(separator: ","))]}}"#)
            }
            if parts.first == "metadata", parts.count == 2, parts[1] != state.brokenItem,
                let item = state.items[parts[1]]
            {
                return .text(Self.metadata(parts[1], item))
            }
            if parts.first == "download", parts.count == 3, let number = Int(parts[2].prefix { $0 != "." }) {
                return .reply(headers: ["Content-Type": "audio/mpeg"], body: Self.audio(parts[1], number))
            }
            return .text("", status: 404)
        }

        private static func list(_ cursor: String?, _ state: State) -> Reply {
            let first = cursor.flatMap { Int($0) } ?? 0
            if state.brokenPage == first / 2 { return .text("", status: 503) }
            if cursor != nil, !state.knowsCursors { return .text(#"{"error":"[CURSOR_EXPIRED] expired"}"#) }
            let all = state.items.sorted { $0.key < $1.key }
            let items = all.dropFirst(first).prefix(2).map { entry($0, $1) }
            let next = first + 2 < all.count || state.isEndless ? #","cursor":"\#(first + 2)""# : ""
            return .text(
                #"{"items":[\#(items.joined(separator: ","))],"total":\#(state.total ?? all.count)\#(next)}"#)
        }

        private static func entry(_ name: String, _ item: Item) -> String {
            """
            {"identifier":"\(name)","title":"\(item.title)","creator":"A","language":"\(item.language)",
            "item_size":\(item.files * 1000),"publicdate":"2010-06-30T19:35:59Z"}
            """
        }

        private static func metadata(_ name: String, _ item: Item) -> String {
            let files = (1...item.files).map {
                """
                {"name":"\($0).mp3","source":"original","format":"VBR MP3","size":"\(audio(name, $0).count)","track":"\($0)"}
                """
            }
            return """
                {"created":1,"metadata":{"identifier":"\(name)","title":"\(item.title)","creator":"A","mediatype":"audio"},
                "files":[\(files.joined(separator: ","))]}
                """
        }
    }
}
