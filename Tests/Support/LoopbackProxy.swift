import Foundation
import Synchronization

/// What a proxy was asked, in the order of arrival.
package struct ProxyRecord: Sendable {
    /// Request lines as they came, or `SOCKS name:port`.
    package var requests: [String] = []
    /// Of every request, the whole head.
    package var heads: [String] = []
    /// Which connection brought it, counted from 0.
    package var connections: [Int] = []
    package var connectionsAccepted = 0
    var connectionsOpen = 0
    var isAccepting = true
    var listenerIsClosed = false
}

/// A small real proxy on a random loopback port: HTTP in absolute form and CONNECT, or SOCKS version 5. Wherever it is
/// asked to go, it goes to loopback, so that names may be used that nobody can resolve. Or one that stands before a server.
package final class LoopbackProxy: Sendable {
    package enum Kind: Sendable, Hashable {
        case http
        case socks
        /// Passes all on to the server at a port; while nobody listens there, it answers 502 with a page of its own.
        case gateway(port: Int)
    }

    /// What it does beside its work.
    package struct Manners: Sendable {
        /// `user:password`; nil lets everybody in.
        package var credentials: String?
        /// Bytes of the answer, by the request's number, after which the client's connection is ended.
        package var cut: @Sendable (Int) -> Int? = { _ in nil }
        /// Sent instead of a talk, and then the connection is ended.
        package var insult: [UInt8]?
        /// Whether it takes connections and never says a word.
        package var isSilent = false

        package init() {}
    }

    package let port: Int
    private let kind: Kind
    private let manners: Manners
    private let listener: Socket
    private let watched = Watched(ProxyRecord())
    private let open = Mutex<[ObjectIdentifier: Held]>([:])

    /// A socket that ``stop()`` may end.
    private final class Held: Sendable {
        let socket: Socket
        init(_ socket: Socket) { self.socket = socket }
    }

    fileprivate init(_ kind: Kind, _ manners: Manners) throws {
        (self.listener, self.port) = try Socket.listening()
        self.kind = kind
        self.manners = manners
    }

    package var record: ProxyRecord { watched.value }

    fileprivate func start() {
        Thread.detachNewThread { self.acceptUntilStopped() }
    }

    fileprivate func stop() async throws {
        watched.update { $0.isAccepting = false }
        listener.shutDown()
        open.withLock { for held in $0.values { held.socket.shutDown() } }
        try await watched.waitUntil { $0.connectionsOpen == 0 && $0.listenerIsClosed }
    }

    private func acceptUntilStopped() {
        while let socket = listener.accepted() {
            let number = watched.update { record in
                record.connectionsAccepted += 1
                record.connectionsOpen += 1
                return record.connectionsAccepted - 1
            }
            Thread.detachNewThread {
                self.holding(socket) { self.serve(socket, number) }
                self.watched.update { $0.connectionsOpen -= 1 }
            }
        }
        listener.close()
        watched.update { $0.listenerIsClosed = true }
    }

    /// Closes the socket after the work, and not before it has been taken out of what ``stop()`` ends.
    private func holding(_ socket: Socket, _ work: () -> Void) {
        let held = Held(socket)
        open.withLock { $0[ObjectIdentifier(held)] = held }
        if !watched.value.isAccepting { socket.shutDown() }
        work()
        open.withLock { $0[ObjectIdentifier(held)] = nil }
        socket.close()
    }

    private func serve(_ client: Socket, _ number: Int) {
        if manners.isSilent {
            while !client.hasEnded(within: 60_000) {}
            return
        }
        if let insult = manners.insult {
            _ = client.receive()
            _ = client.send(insult[...])
            return
        }
        var reader = SocketReader(client)
        switch kind {
        case .http, .gateway: while serveRequest(&reader, number) {}
        case .socks: serveSOCKS(&reader, number)
        }
    }

    /// - Returns: the request's number.
    private func record(_ line: String, _ head: String, _ connection: Int) -> Int {
        watched.update { record in
            record.requests.append(line)
            record.heads.append(head)
            record.connections.append(connection)
            return record.requests.count - 1
        }
    }

    // MARK: HTTP

    /// - Returns: whether there may be another request.
    private func serveRequest(_ client: inout SocketReader, _ connection: Int) -> Bool {
        guard let head = client.readHead() else { return false }
        let lines = head.components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ").map(String.init)
        let number = record(lines[0], head, connection)
        guard words.count == 3 else { return false }
        let wanted = manners.credentials.map { "Basic " + Data($0.utf8).base64EncodedString() }
        if let wanted, !lines.contains(where: { $0.lowercased() == "proxy-authorization: \(wanted.lowercased())" }) {
            return client.socket.sendAll("HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n")
        }
        if words[0] == "CONNECT" {
            guard let origin = origin(words[1]) else { return client.socket.sendAll(Self.badGateway) && false }
            holding(origin) {
                guard client.socket.sendAll("HTTP/1.1 200 Connected\r\nX-Proxy: yes\r\n\r\n") else { return }
                relay(client, origin, cut: manners.cut(number))
            }
            return false
        }
        guard let body = client.read(Self.contentLength(head) ?? 0) else { return false }
        var rest = words[1][...]
        let found: Socket?
        if case .gateway(let port) = kind {
            found = self.connection(to: port)
            if found == nil { return client.socket.sendAll(Self.pageOfOwn) && false }
        } else {
            guard rest.lowercased().hasPrefix("http://") else {
                return client.socket.sendAll("HTTP/1.1 400 No absolute form\r\nContent-Length: 0\r\n\r\n")
            }
            rest = rest.dropFirst(7)
            let authority = rest.prefix { $0 != "/" }
            rest = rest.dropFirst(authority.count)
            found = self.origin(String(authority))
        }
        guard let origin = found else { return client.socket.sendAll(Self.badGateway) }
        var mayGoOn = false
        holding(origin) {
            let fields = lines.dropFirst().filter { line in
                !line.isEmpty && !["proxy-", "connection:"].contains { line.lowercased().hasPrefix($0) }
            }
            let request = (["\(words[0]) \(rest) HTTP/1.1"] + fields).joined(separator: "\r\n")
            guard origin.sendAll(request + "\r\nConnection: close\r\n\r\n"), origin.send(body[...]) == body.count
            else { return }
            mayGoOn = forwardAnswer(
                of: origin, to: client.socket, hasBody: words[0] != "HEAD", cut: manners.cut(number))
        }
        return mayGoOn
    }

    private static let badGateway = "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
    private static let pageOfOwn =
        "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<h1>502 Bad Gateway</h1>"

    private static func contentLength(_ head: String) -> Int? {
        head.lowercased().components(separatedBy: "\r\n").lazy
            .filter { $0.hasPrefix("content-length:") }.compactMap { Int($0.dropFirst(15).filter { $0 != " " }) }.first
    }

    /// - Returns: whether the client can tell where the answer ended.
    private func forwardAnswer(of origin: Socket, to client: Socket, hasBody: Bool, cut: Int?) -> Bool {
        var reader = SocketReader(origin)
        guard let head = reader.readHead(), client.sendAll(head + "\r\n\r\n") else { return false }
        let length = Self.contentLength(head)
        if !hasBody || length == 0 { return true }
        var left = min(length ?? .max, cut ?? .max)
        while left > 0 {
            let part = reader.readSome(upTo: left)
            if part.isEmpty { return false }
            guard client.send(part[...]) == part.count else { return false }
            left -= part.count
        }
        return length != nil && cut == nil
    }

    private func origin(_ authority: String) -> Socket? {
        guard let colon = authority.lastIndex(of: ":"), let port = Int(authority[colon...].dropFirst()) else {
            return nil
        }
        return connection(to: port)
    }

    private func connection(to port: Int) -> Socket? {
        do { return try Socket.connected(port: port) } catch { return nil }
    }

    // MARK: SOCKS

    private func serveSOCKS(_ client: inout SocketReader, _ connection: Int) {
        guard let greeting = client.read(2), greeting[0] == 5, let methods = client.read(Int(greeting[1])) else {
            return
        }
        guard methods.contains(0), manners.credentials == nil else {
            _ = client.socket.send([5, 0xFF])
            return
        }
        _ = client.socket.send([5, 0])
        guard let request = client.read(4), let name = readName(&client, kind: request[3]), let ports = client.read(2)
        else { return }
        let port = Int(ports[0]) << 8 | Int(ports[1])
        let line = "SOCKS \(name):\(port)"
        let number = record(line, line, connection)
        guard let origin = self.connection(to: port) else {
            _ = client.socket.send([5, 5, 0, 1, 0, 0, 0, 0, 0, 0])
            return
        }
        holding(origin) {
            // A name for the bound address, to be read over.
            _ = client.socket.send([5, 0, 0, 3, 2, 0x61, 0x62, 0, 0])
            relay(client, origin, cut: manners.cut(number))
        }
    }

    private func readName(_ client: inout SocketReader, kind: UInt8) -> String? {
        switch kind {
        case 1: return client.read(4)?.map(String.init).joined(separator: ".")
        case 4: return client.read(16).map { "IPv6 \($0.map { String($0, radix: 16) }.joined(separator: "."))" }
        case 3:
            guard let length = client.read(1) else { return nil }
            return client.read(Int(length[0])).map { String(decoding: $0, as: UTF8.self) }
        default: return nil
        }
    }

    // MARK: Bytes

    /// Passes bytes on in both directions until both ends are done.
    private func relay(_ client: SocketReader, _ origin: Socket, cut: Int?) {
        let socket = client.socket
        let begun = client.unread
        let group = DispatchGroup()
        group.enter()
        Thread.detachNewThread {
            if begun.isEmpty || origin.send(begun[...]) == begun.count {
                Self.pass(from: socket, to: origin, atMost: .max)
            }
            origin.shutDown()
            group.leave()
        }
        Self.pass(from: origin, to: socket, atMost: cut ?? .max)
        socket.shutDown()
        group.wait()
    }

    private static func pass(from source: Socket, to sink: Socket, atMost limit: Int) {
        var left = limit
        while left > 0 {
            let part = source.receive().prefix(left)
            if part.isEmpty || sink.send(part) < part.count { return }
            left -= part.count
        }
    }
}

/// Reads ahead, so that lines and counts can be taken off.
struct SocketReader: Sendable {
    let socket: Socket
    private(set) var unread: [UInt8] = []

    init(_ socket: Socket) { self.socket = socket }

    /// Up to the empty line, without it; nil at the end of the connection.
    mutating func readHead() -> String? {
        while true {
            if let end = unread.firstRange(of: Array("\r\n\r\n".utf8)) {
                let head = String(decoding: unread[..<end.lowerBound], as: UTF8.self)
                unread.removeSubrange(..<end.upperBound)
                return head
            }
            let more = socket.receive()
            if more.isEmpty { return nil }
            unread += more
        }
    }

    /// Exactly so many bytes; nil when the connection ends before.
    mutating func read(_ count: Int) -> [UInt8]? {
        while unread.count < count {
            let more = socket.receive()
            if more.isEmpty { return nil }
            unread += more
        }
        defer { unread.removeFirst(count) }
        return Array(unread[..<count])
    }

    /// What there is, or else comes next; empty at the end.
    mutating func readSome(upTo count: Int) -> [UInt8] {
        if unread.isEmpty { unread = socket.receive() }
        let part = Array(unread.prefix(count))
        unread.removeFirst(part.count)
        return part
    }
}

extension Socket {
    fileprivate func sendAll(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return send(bytes[...]) == bytes.count
    }
}

/// Runs a proxy for as long as the body takes.
package func withProxy<Answer>(
    _ kind: LoopbackProxy.Kind, _ change: (inout LoopbackProxy.Manners) -> Void = { _ in },
    isolation: isolated (any Actor)? = #isolation, _ body: (LoopbackProxy) async throws -> Answer
) async throws -> Answer {
    var manners = LoopbackProxy.Manners()
    change(&manners)
    let proxy = try LoopbackProxy(kind, manners)
    proxy.start()
    let outcome: Result<Answer, any Error>
    do {
        outcome = .success(try await body(proxy))
    } catch {
        outcome = .failure(error)
    }
    // A task of its own: the present one may be cancelled, and must wait nevertheless.
    try await Task { try await proxy.stop() }.value
    return try outcome.get()
}
