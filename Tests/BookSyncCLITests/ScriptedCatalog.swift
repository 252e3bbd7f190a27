import Foundation
import Support

/// A book-resource catalog and its audio, as a script for the misbehaving server.
struct ScriptedCatalog: Sendable {
    struct Item: Sendable {
        /// As JSON writes it: a number, or a string in quotes.
        var id: String
        var section: Int
        var name: String
        var bytes: [UInt8]
        /// Behind the audio's path, for addresses that are signed.
        var query = ""
        /// What is done to the audio's answers.
        var deeds: [Deed] = [.wellBehaved]

        var path: String { "/audio/\(section).mp3" }
    }

    static let listPath = "/yyting/list.action"

    var items: [Item]
    var pace: Pace?

    /// So many episodes of so many bytes each, all different.
    /// - Parameter tap: what the audio comes through; nil for nothing that holds it.
    init(episodes count: Int, bytes: Int = 20_000, pace: Pace? = nil, tap: Tap? = nil) {
        items = (1...max(1, count)).prefix(count).map { section in
            Item(
                id: String(9000 + section), section: section, name: "第\(section)集",
                bytes: sampleMP3(bytes: bytes + section, seed: UInt64(section)),
                deeds: [tap.map { .ending(.heldBy($0)) } ?? .wellBehaved])
        }
        self.pace = pace
    }

    var totalBytes: Int { items.reduce(0) { $0 + $1.bytes.count } }

    /// SHA-256 of all audio, in the order of the sections.
    var digests: [String] { items.map { sha256($0.bytes) } }

    var script: ServerScript {
        let catalog = self
        let audio = Dictionary(
            uniqueKeysWithValues: items.map { item in
                (item.path, ServerScript.file(ServedFile(item.bytes, pace: pace), item.deeds))
            })
        return ServerScript { request in
            if request.path == Self.listPath { return .text(catalog.listing(request.query)) }
            return audio[request.path]?.answer(request) ?? .notFound
        }
    }

    private func listing(_ query: [String: String]) -> String {
        let size = max(1, query["pageSize"].flatMap { Int($0) } ?? 50)
        let page = max(1, query["pageNum"].flatMap { Int($0) } ?? 1)
        let elements = items.dropFirst((page - 1) * size).prefix(size).map { item in
            """
            {"id":\(item.id),"section":\(item.section),"name":\(quoted(item.name)),\
            "path":\(quoted(item.path + item.query)),"size":\(item.bytes.count)}
            """
        }
        return """
            {"status":0,"msg":null,"sections":\(items.count),"list":[\(elements.joined(separator: ","))]}
            """
    }

    private func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
                ? "\\u" + String(scalar.value + 0x10000, radix: 16).dropFirst() : String(scalar)
        }
        return "\"" + escaped.joined() + "\""
    }

    /// A configuration whose only source is the catalog at that port.
    static func configuration(port: Int, more: String = "") -> String {
        """
        sources:
          cat:
            type: book-resource
            url: http://127.0.0.1:\(port)\(listPath)
            allow-private-addresses: true
        \(more)
        """
    }
}

extension ServerRecord {
    /// Body bytes of all audio.
    var audioBytesSent: Int {
        exchanges.reduce(0) { $0 + ($1.request.path.hasPrefix("/audio/") ? $1.bodyBytesSent : 0) }
    }
}

/// Runs a workbench beside a server with the script, configured for it.
func withCatalog<Answer>(
    _ script: ServerScript, more: String = "", isolation: isolated (any Actor)? = #isolation,
    _ body: (Workbench, MisbehavingServer) async throws -> Answer
) async throws -> Answer {
    try await withWorkbench { bench in
        try await withServer(script) { server in
            try bench.configure(ScriptedCatalog.configuration(port: server.port, more: more))
            return try await body(bench, server)
        }
    }
}
