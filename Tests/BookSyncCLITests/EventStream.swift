import Foundation
import ShelfService
import Support
import Testing

/// A client of `/api/v1/events`, as a browser is one: it reads on until it is closed.
final class EventStream: Sendable {
    struct Message: Sendable {
        var id: String?
        var event: String?
        var data: String?
        var comment: String?

        /// The events of a message, as a page reads them.
        func changes() throws -> [JSONObject] {
            guard event == "changes", let data else { return [] }
            return try JSONObject.list(data)
        }
    }

    private struct State: Sendable {
        var text = ""
        var messages: [Message] = []
        var isOver = false
    }

    private let socket: Socket
    private let watched: Watched<State>

    /// - Parameter lastEventID: as a browser says it that was cut off.
    init(_ shelf: ServedShelf, lastEventID: String? = nil) throws {
        let socket = try Socket.connected(port: shelf.port)
        let watched = Watched(State())
        self.socket = socket
        self.watched = watched
        let fields = lastEventID.map { "Last-Event-ID: \($0)\r\n" } ?? ""
        let request = "GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:\(shelf.port)\r\n\(fields)\r\n"
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
                case "id": message.id = parts[1]
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

    /// Waits until it was told of an event.
    /// - Parameter members: `name: value`, all of which the event has, as texts.
    @discardableResult
    func event(_ members: [String: String]) async throws -> JSONObject {
        let message = try await message { Self.event(members, in: $0) != nil }
        return try #require(Self.event(members, in: message))
    }

    private static func event(_ members: [String: String], in message: Message) -> JSONObject? {
        let events = Result { try message.changes() }
        guard case .success(let events) = events else { return nil }
        return events.first { event in
            members.allSatisfy { event[$0.key] == $0.value || event.number($0.key).map(String.init) == $0.value }
        }
    }

    /// All events so far, in their order.
    func events() throws -> [JSONObject] { try messages.flatMap { try $0.changes() } }
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
