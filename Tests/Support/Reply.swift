/// What the server puts on the wire for one request, lies included. Nothing is corrected: a reply with a wrong
/// `Content-Length` goes out with it.
package struct Reply: Sendable {
    /// How the end of the body is told.
    package enum Framing: Sendable {
        /// `Content-Length` with the body's true length.
        case length
        /// `Content-Length` with this number. The connection is closed after the body when the number is a lie.
        case declared(Int)
        /// Chunks of so many bytes. Without the last chunk the connection is closed where it should come.
        case chunked(size: Int = 8192, finished: Bool = true)
        /// Nothing tells it but the end of the connection.
        case untilClose
    }

    /// What becomes of the connection. Byte counts are those of this answer's body.
    package enum Ending: Sendable {
        case keepAlive
        /// A clean end (FIN) after the whole answer, unannounced.
        case close
        /// A clean end (FIN) after exactly so many body bytes; after the head with 0.
        case cutAfter(bytes: Int)
        /// A reset (RST) after exactly so many body bytes, once the client's machine has acknowledged them.
        case resetAfter(bytes: Int)
        /// Holds its breath after so many body bytes until the gate opens, then goes on to the end and keeps alive.
        case stallAfter(bytes: Int, until: Gate)
        /// Goes on as far as the tap allows, and keeps alive.
        case heldBy(Tap)
        /// A clean end without a single byte of answer.
        case closeBeforeAnswer
        case resetBeforeAnswer
        /// Reads the request and says nothing, until the client goes away or the server stops.
        case neverAnswer
    }

    package var status: Int
    package var reason: String
    package var version = "HTTP/1.1"
    /// In order, duplicates allowed. A `Content-Length` or `Transfer-Encoding` in here replaces that of the framing.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    package var framing: Framing
    package var ending: Ending
    package var pace: Pace?
    /// Sent in place of the whole head, verbatim, with whatever line ends it has.
    package var rawHead: [UInt8]?

    package init(
        status: Int = 200, reason: String = "", headers: KeyValuePairs<String, String> = [:], body: [UInt8] = [],
        framing: Framing = .length, pace: Pace? = nil, then ending: Ending = .keepAlive
    ) {
        self.status = status
        self.reason = reason
        self.headers = headers.map { (name: $0.key, value: $0.value) }
        self.body = body
        self.framing = framing
        self.ending = ending
        self.pace = pace
    }

    /// One answer, spelt out.
    package static func reply(
        status: Int = 200, headers: KeyValuePairs<String, String> = [:], body: [UInt8] = [],
        framing: Framing = .length, pace: Pace? = nil, then ending: Ending = .keepAlive
    ) -> Reply {
        Reply(status: status, headers: headers, body: body, framing: framing, pace: pace, then: ending)
    }

    /// A text answer, for catalogs and error pages.
    package static func text(
        _ text: String, type: String = "application/json; charset=utf-8", status: Int = 200,
        headers: KeyValuePairs<String, String> = [:], then ending: Ending = .keepAlive
    ) -> Reply {
        var reply = Reply(status: status, headers: headers, body: Array(text.utf8), then: ending)
        reply.setHeader("Content-Type", type)
        return reply
    }

    /// These bytes and nothing else, then what the ending says. Those after `head` are counted as the body.
    package static func raw(_ head: [UInt8], body: [UInt8] = [], then ending: Ending = .close) -> Reply {
        var reply = Reply(body: body, framing: .untilClose, then: ending)
        reply.rawHead = head
        return reply
    }

    package static let notFound = text("{\"error\":\"not found\"}", status: 404)
    package static let closeBeforeAnswer = Reply(then: .closeBeforeAnswer)
    package static let resetBeforeAnswer = Reply(then: .resetBeforeAnswer)
    package static let neverAnswer = Reply(then: .neverAnswer)

    /// Replaces every field of that name; nil removes them.
    package mutating func setHeader(_ name: String, _ value: String?) {
        headers.removeAll { $0.name.lowercased() == name.lowercased() }
        if let value { headers.append((name: name, value: value)) }
    }

    func hasHeader(_ name: String) -> Bool {
        headers.contains { $0.name.lowercased() == name.lowercased() }
    }

    /// The status line and the fields as they go out.
    var head: [UInt8] {
        if let rawHead { return rawHead }
        var text = "\(version) \(status) \(reason)\r\n"
        for header in headers { text += "\(header.name): \(header.value)\r\n" }
        if !hasHeader("Content-Length"), !hasHeader("Transfer-Encoding") {
            switch framing {
            case .length:
                // These have no body and say so by their status (RFC 9110 §8.6).
                if status != 304, status != 204 { text += "Content-Length: \(body.count)\r\n" }
            case .declared(let length): text += "Content-Length: \(length)\r\n"
            case .chunked: text += "Transfer-Encoding: chunked\r\n"
            case .untilClose: break
            }
        }
        return Array((text + "\r\n").utf8)
    }
}

/// How fast a connection gives its bytes away, and in how small pieces: what is in flight when a client dies is bounded
/// by it.
package struct Pace: Sendable, Hashable {
    package var bytesPerSecond: Int
    /// Bytes written at once.
    package var piece: Int

    package init(bytesPerSecond: Int, piece: Int = 4096) {
        self.bytesPerSecond = max(1, bytesPerSecond)
        self.piece = max(1, piece)
    }

    /// One byte a second, or so many.
    package static func drip(bytesPerSecond: Int = 1) -> Pace { Pace(bytesPerSecond: bytesPerSecond, piece: 1) }
}
