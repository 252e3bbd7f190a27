import Foundation

/// One accepted connection on a thread of its own: blocking calls, so that what was written is known to the byte.
struct ServerConnection: Sendable {
    let socket: Socket
    let number: Int
    let record: Watched<ServerRecord>
    let script: ServerScript

    /// The connection ended in the middle of something.
    private struct Ended: Error {}

    /// Reads requests and answers them until either side ends the connection. Does not close the socket.
    func serve() {
        var unread: [UInt8] = []
        var count = 0
        while var request = readRequest(&unread) {
            request.connection = number
            request.numberOnConnection = count
            count += 1
            let arrived = request
            let (numbered, exchange) = record.update { $0.began(arrived) }
            let keepAlive = perform(script.answer(numbered), for: numbered, exchange)
            record.update { $0.finished(exchange) }
            if !keepAlive { return }
        }
    }

    // MARK: Requests

    private func readRequest(_ unread: inout [UInt8]) -> ServerRequest? {
        while true {
            if let end = unread.firstRange(of: Array("\r\n\r\n".utf8)) {
                guard var request = parseHead(unread[..<end.lowerBound]) else { return nil }
                unread.removeSubrange(..<end.upperBound)
                let length = request.header("Content-Length").flatMap { Int($0) } ?? 0
                while unread.count < length {
                    let more = socket.receive()
                    if more.isEmpty { return nil }
                    unread += more
                }
                request.body = Array(unread[..<length])
                unread.removeSubrange(..<length)
                return request
            }
            let more = socket.receive()
            if more.isEmpty { return nil }
            unread += more
        }
    }

    private func parseHead(_ bytes: ArraySlice<UInt8>) -> ServerRequest? {
        let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count == 3 else { return nil }
        let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            return (name: String(line[..<colon]), value: value)
        }
        return ServerRequest(method: String(words[0]), target: String(words[1]), headers: headers)
    }

    // MARK: Answers

    /// - Returns: whether the connection may bring another request.
    private func perform(_ reply: Reply, for request: ServerRequest, _ exchange: Int) -> Bool {
        switch reply.ending {
        case .closeBeforeAnswer: return false
        case .resetBeforeAnswer:
            socket.resetOnClose()
            return false
        case .neverAnswer:
            while !socket.hasEnded(within: 60_000) {}
            return false
        case .keepAlive, .close, .cutAfter, .resetAfter, .stallAfter, .heldBy: break
        }
        do {
            if reply.pace != nil { socket.useSmallSendBuffer() }
            let hasBody = request.method != "HEAD" && !reply.body.isEmpty
            if !hasBody { record.update { $0.answered(exchange) } }
            try send(reply.head[...])
            var writer = BodyWriter(connection: self, exchange: exchange, reply: reply)
            let isWhole = try writer.write(withBody: request.method != "HEAD")
            if case .resetAfter = reply.ending {
                socket.drain()
                socket.resetOnClose()
            }
            guard isWhole, !reply.endsWithConnection(request) else { return false }
            return request.header("Connection")?.lowercased() != "close"
        } catch {
            return false
        }
    }

    private func send(_ bytes: ArraySlice<UInt8>) throws {
        if socket.send(bytes) < bytes.count { throw Ended() }
    }

    /// Waits for a gate or a tap. There is no event that both a socket and these raise, so they are looked at every 5 ms.
    private func wait(until mayGoOn: () -> Bool) throws {
        while !mayGoOn() {
            if socket.hasEnded(within: 5) { throw Ended() }
        }
    }

    /// Gives one body away as the reply's framing, ending and pace want it.
    private struct BodyWriter {
        let connection: ServerConnection
        let exchange: Int
        let reply: Reply
        private let start = ContinuousClock.now
        private var sent = 0

        init(connection: ServerConnection, exchange: Int, reply: Reply) {
            self.connection = connection
            self.exchange = exchange
            self.reply = reply
        }

        /// - Returns: whether everything went out that the framing promised.
        mutating func write(withBody: Bool) throws -> Bool {
            try holdIfDue()
            if isCutDue { return false }
            guard withBody else { return true }
            guard case .chunked(let size, let isFinished) = reply.framing else {
                return try writePayload(reply.body[...])
            }
            var rest = reply.body[...]
            while !rest.isEmpty {
                let chunk = rest.prefix(max(1, size))
                rest = rest.dropFirst(chunk.count)
                try connection.send(Array((String(chunk.count, radix: 16) + "\r\n").utf8)[...])
                guard try writePayload(chunk) else { return false }
                try connection.send(Array("\r\n".utf8)[...])
            }
            connection.record.update { [exchange] in $0.answered(exchange) }
            if isFinished { try connection.send(Array("0\r\n\r\n".utf8)[...]) }
            return isFinished
        }

        /// - Returns: false when the connection is to end here.
        private mutating func writePayload(_ bytes: ArraySlice<UInt8>) throws -> Bool {
            var rest = bytes
            while !rest.isEmpty {
                let piece = rest.prefix(min(reply.pace?.piece ?? 16384, untilNextEvent ?? .max))
                rest = rest.dropFirst(piece.count)
                let taken = send(piece, isLast: rest.isEmpty && !reply.isChunked)
                sent += taken
                if taken < piece.count { throw Ended() }
                try holdIfDue()
                if isCutDue { return false }
                try keepPace()
            }
            return true
        }

        /// Writes and counts. The piece that completes an answer is counted before it goes out, since with it the client
        /// may do its next step, and look at the counts, before this thread runs again; what the kernel did not take is
        /// then taken back.
        private func send(_ piece: ArraySlice<UInt8>, isLast: Bool) -> Int {
            guard isLast else {
                let taken = connection.socket.send(piece)
                connection.record.update { [exchange] in $0.exchanges[exchange].bodyBytesSent += taken }
                return taken
            }
            connection.record.update { [exchange] in
                $0.exchanges[exchange].bodyBytesSent += piece.count
                $0.answered(exchange)
            }
            let taken = connection.socket.send(piece)
            if taken < piece.count {
                connection.record.update { [exchange] in $0.exchanges[exchange].bodyBytesSent -= piece.count - taken }
            }
            return taken
        }

        /// Body bytes until something is to happen, never 0.
        private var untilNextEvent: Int? {
            switch reply.ending {
            case .cutAfter(let bytes), .resetAfter(let bytes), .stallAfter(let bytes, _):
                bytes > sent ? bytes - sent : nil
            // Never 0: it was waited for.
            case .heldBy(let tap): max(1, tap.allowed - sent)
            default: nil
            }
        }

        private var isCutDue: Bool {
            switch reply.ending {
            case .cutAfter(let bytes), .resetAfter(let bytes): sent >= bytes
            default: false
            }
        }

        private func holdIfDue() throws {
            switch reply.ending {
            case .stallAfter(sent, let gate): try connection.wait { gate.isOpen }
            case .heldBy(let tap): if sent < reply.body.count { try connection.wait { tap.allowed > sent } }
            default: break
            }
        }

        private func keepPace() throws {
            guard let pace = reply.pace else { return }
            let due = start + .seconds(Double(sent) / Double(pace.bytesPerSecond))
            while true {
                let left = ContinuousClock.now.duration(to: due)
                guard left > .zero else { return }
                let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
                if connection.socket.hasEnded(within: Int(milliseconds) + 1) { throw Ended() }
            }
        }
    }
}

extension Reply {
    fileprivate var isChunked: Bool {
        if case .chunked = framing { return true }
        return false
    }

    /// Whether a client can only tell the end of the body, or that it was lied to, by the end of the connection.
    fileprivate func endsWithConnection(_ request: ServerRequest) -> Bool {
        switch ending {
        case .keepAlive, .stallAfter, .heldBy: break
        default: return true
        }
        switch framing {
        case .length, .chunked: return false
        case .declared(let length): return length != body.count && request.method != "HEAD"
        case .untilClose: return true
        }
    }
}
