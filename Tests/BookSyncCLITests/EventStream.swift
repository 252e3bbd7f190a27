import BookSync
import Foundation
import Support
import Testing

/// A client of `/api/v1/events`, as a browser is one: it reads on until it is closed.
final class EventStream: Sendable {
    struct Message: Sendable {
        var event: String?
        var data: String?
        var comment: String?

        /// What moves, as a page reads it; nil for a comment.
        func shelf() throws -> JSONObject? {
            guard event == "shelf", let data else { return nil }
            return try JSONObject(data)
        }
    }

    private struct State: Sendable {
        var text = ""
        var messages: [Message] = []
        var isOver = false
    }

    private let socket: Socket
    private let watched: Watched<State>

    init(_ shelf: ServedShelf) throws {
        let socket = try Socket.connected(port: shelf.port)
        let watched = Watched(State())
        self.socket = socket
        self.watched = watched
        let request = "GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:\(shelf.port)\r\n\r\n"
        _ = socket.send(Array(request.utf8)[...])
        Thread.detachNewThread {
            var chunks = Chunks()
            while true {
                let bytes = socket.receive()
                if bytes.isEmpty { break }
                let text = chunks.take(bytes)
                watched.update { state in Self.take(text, &state) }
            }
            watched.update { $0.isOver = true }
        }
    }

    /// The connection goes, as when a lid is shut.
    func close() { socket.shutDown() }

    private static func take(_ text: String, _ state: inout State) {
        state.text += text
        while let end = state.text.range(of: "\n\n") {
            var message = Message()
            for line in state.text[..<end.lowerBound].split(separator: "\n") {
                let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
                switch parts[0] {
                case "event": message.event = parts[1]
                case "data": message.data = parts[1]
                default: message.comment = String(line)
                }
            }
            state.text.removeSubrange(..<end.upperBound)
            state.messages.append(message)
        }
    }

    /// Waits until the server ended the stream.
    func waitForEnd() async throws { try await watched.waitUntil { $0.isOver } }

    var messages: [Message] { watched.value.messages }

    /// Waits for a message for which the condition holds.
    @discardableResult
    func message(where condition: @escaping @Sendable (Message) -> Bool) async throws -> Message {
        let state = try await watched.waitUntil { $0.isOver || $0.messages.contains(where: condition) }
        return try #require(state.messages.first(where: condition), "the stream ended: \(state.messages.suffix(3))")
    }

    /// Waits until the server has looked at the shelf.
    /// - Returns: the version of the shelf.
    @discardableResult
    func begun() async throws -> String {
        try #require(try await message { $0.event == "shelf" }.shelf()?["version"])
    }

    /// Waits for another version than these.
    @discardableResult
    func version(otherThan known: [String]) async throws -> String {
        @Sendable func other(_ message: Message) -> String? {
            (try? message.shelf())?["version"].flatMap { known.contains($0) ? nil : $0 }
        }
        return try #require(other(try await message { other($0) != nil }))
    }

    /// Waits until it was told of an episode that moves or has ended, or of a run.
    /// - Parameters:
    ///   - part: of what it is told.
    ///   - members: `name: value`, all of which it has, as texts.
    @discardableResult
    func event(_ members: [String: String], in part: String? = nil) async throws -> JSONObject {
        let parts = part.map { [$0] } ?? ["moving", "ended"]
        let message = try await message { Self.event(members, parts, in: $0) != nil }
        return try #require(Self.event(members, parts, in: message))
    }

    private static func event(_ members: [String: String], _ parts: [String], in message: Message) -> JSONObject? {
        guard let shelf = try? message.shelf() else { return nil }
        return parts.flatMap(shelf.objects).first { event in
            members.allSatisfy { event[$0.key] == $0.value || event.number($0.key).map(String.init) == $0.value }
        }
    }

    /// What it was told so far, in its order.
    func shelves() throws -> [JSONObject] { try messages.compactMap { try $0.shelf() } }
}

/// The body of an answer that comes in chunks (RFC 9112 §7.1), and nothing else of it.
private struct Chunks {
    private var bytes: [UInt8] = []
    private var isInBody = false

    mutating func take(_ more: [UInt8]) -> String {
        bytes += more
        if !isInBody {
            guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return "" }
            bytes.removeSubrange(..<end.upperBound)
            isInBody = true
        }
        var text: [UInt8] = []
        while let end = bytes.firstRange(of: Array("\r\n".utf8)),
            let size = Int(String(decoding: bytes[..<end.lowerBound], as: UTF8.self), radix: 16),
            bytes.count >= end.upperBound + size + 2
        {
            text += bytes[end.upperBound..<(end.upperBound + size)]
            bytes.removeSubrange(..<(end.upperBound + size + 2))
        }
        return String(decoding: text, as: UTF8.self)
    }
}
