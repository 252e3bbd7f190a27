import Foundation
import Support

/// A book-resource catalog and its audio, as a server tells them at the moment.
struct ScriptedCatalog: Sendable {
    struct Element: Sendable {
        var id: Int
        var section: Int
        var name: String
        /// Where the audio is; a bare path is on the catalog's own server, nil is locked.
        var path: String?
        var size: Int?
    }

    var elements: [Element]
    /// What the catalog declares; nil for as many as it lists.
    var sections: Int?
    /// Counts the listings; each signs the addresses it gives with its number: `/audio/1.mp3?listing=2`.
    var signature: Watched<Int>?
    /// Book → what its listing waits for.
    var held: [String: Gate] = [:]
    /// Path → what is served there.
    var audio: [String: ServerScript]

    /// So many episodes of so many bytes each, all different.
    static func episodes(_ count: Int, bytes: Int = 40_000, pace: Pace? = nil) -> ScriptedCatalog {
        var catalog = ScriptedCatalog(elements: [], audio: [:])
        for section in 1...count {
            let path = "/audio/\(section).mp3"
            catalog.elements.append(
                Element(id: 301_500_957 + section, section: section, name: "第\(section)集", path: path, size: bytes))
            catalog.audio[path] = .file(Self.bytes(section, bytes), pace: pace)
        }
        return catalog
    }

    static func bytes(_ section: Int, _ count: Int = 40_000) -> [UInt8] {
        sampleMP3(bytes: count, seed: UInt64(section))
    }

    func answer(to request: ServerRequest) -> Reply {
        guard request.path == "/catalog" else { return audio[request.path]?.answer(request) ?? .notFound }
        let host = request.header("Host") ?? ""
        let isFirst = request.query["pageNum"] == "1"
        var query = ""
        if isFirst, let signature {
            query = signature.update { number in
                number += 1
                return "?listing=\(number)"
            }
        }
        let list = isFirst ? elements.map { json(of: $0, host: host, query: query) } : []
        let gate = request.query["bookId"].flatMap { held[$0] }
        return .text(
            "{\"bookId\":30776,\"list\":[\(list.joined(separator: ","))],\"msg\":null,"
                + "\"sections\":\(sections ?? elements.count),\"status\":0}",
            then: gate.map { .stallAfter(bytes: 10, until: $0) } ?? .keepAlive)
    }

    private func json(of element: Element, host: String, query: String) -> String {
        let address = element.path.map { ($0.hasPrefix("/") ? "http://\(host)\($0)" : $0) + query }
        let path = address.map { "\"\($0)\"" } ?? "null"
        return "{\"id\":\(element.id),\"section\":\(element.section),\"name\":\"\(element.name)\",\"path\":\(path),"
            + "\"size\":\(element.size.map(String.init) ?? "null"),\"length\":0}"
    }
}
