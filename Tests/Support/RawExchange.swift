import Foundation

/// What a client that knows nothing of HTTP received.
package struct RawAnswer: Sendable {
    /// Status line and fields, without the empty line; empty when no whole head came.
    package var head: String
    /// Everything after the head, chunk framing included.
    package var body: [UInt8]
    package var wasReset: Bool
    /// From the begin of connecting to the last byte, on the clock of the thread that asked.
    package var duration: Duration

    /// Of the status line; nil when it has none.
    package var status: Int? {
        head.components(separatedBy: "\r\n").first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    }

    /// In their order, as they were written.
    package var fields: [(name: String, value: String)] {
        head.components(separatedBy: "\r\n").dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            return (name: String(line[..<colon]), value: value)
        }
    }

    /// The first value of a field.
    package func first(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// Sends a request without a body to a URL on the loopback, on a connection of its own.
package func rawExchange(
    _ method: String, _ url: String, _ fields: [(String, String)] = []
) async throws -> RawAnswer {
    guard let parts = URLComponents(string: url), let host = parts.host, let port = parts.port else {
        throw URLError(.badURL)
    }
    let target = parts.percentEncodedPath + (parts.percentEncodedQuery.map { "?" + $0 } ?? "")
    let lines =
        ["\(method) \(target) HTTP/1.1", "Host: \(host):\(port)", "Connection: close", "Content-Length: 0"]
        + fields.map { "\($0): \($1)" }
    return try await rawExchange(port: port, sending: lines.joined(separator: "\r\n") + "\r\n\r\n")
}

/// Sends these bytes to a loopback port and reads until the server ends the connection, or until so many body bytes
/// have come.
///
/// For looking at a server without a client's opinion in between.
/// - Parameter client: the last number of the client's own address, as ``Socket/connected(port:from:)`` takes it.
package func rawExchange(
    port: Int, sending request: String, bodyBytes limit: Int = .max, from client: UInt8 = 0
) async throws -> RawAnswer {
    try await onThread { try blockingExchange(port: port, sending: request, bodyBytes: limit, from: client) }
}

/// The same on the thread that asks.
package func blockingExchange(
    port: Int, sending request: String, bodyBytes limit: Int = .max, from client: UInt8 = 0
) throws -> RawAnswer {
    let begin = ContinuousClock.now
    let socket = try Socket.connected(port: port, from: client)
    defer { socket.close() }
    _ = socket.send(Array(request.utf8)[...])
    var received: [UInt8] = []
    var wasReset = false
    while true {
        if let end = endOfHead(received), received.count - end >= limit { break }
        guard let more = socket.receiveOrReset() else {
            wasReset = true
            break
        }
        if more.isEmpty { break }
        received += more
    }
    let duration = ContinuousClock.now - begin
    guard let end = endOfHead(received) else {
        return RawAnswer(head: "", body: received, wasReset: wasReset, duration: duration)
    }
    let head = String(decoding: received[..<(end - 4)], as: UTF8.self)
    return RawAnswer(head: head, body: Array(received[end...]), wasReset: wasReset, duration: duration)
}

private func endOfHead(_ bytes: [UInt8]) -> Int? {
    bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound
}

/// Runs blocking work on a thread of its own, so that it holds no thread of the cooperative pool.
package func onThread<Answer: Sendable>(_ work: @escaping @Sendable () throws -> Answer) async throws -> Answer {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
}
