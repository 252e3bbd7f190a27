import BookModel
import NIOCore

/// The talk with a proxy before the bytes of a connection pass through it: what came in, what goes out. No socket here.
protocol TunnelNegotiation: Sendable {
    /// What opens the talk.
    mutating func opening() -> ByteBuffer
    /// Takes what it understands off the front of the bytes received.
    mutating func advance(_ received: inout ByteBuffer) -> TunnelStep
}

enum TunnelStep: Equatable, Sendable {
    case needsMore
    case send(ByteBuffer)
    /// Whatever is left of the bytes received is the server's.
    case open
    case fail(TunnelRefusal)
}

/// Why a proxy makes no tunnel, without naming it.
enum TunnelRefusal: Equatable, Sendable {
    /// It wants a user and a password, or others than it got.
    case credentials(Message)
    /// It could not get through to the server, and may another time.
    case unreachable(Message)
    /// It does not want to.
    case forbidden(Message)
    /// No proxy of that kind speaks so.
    case unreadable
    /// It said nothing in time.
    case silent
    case closed
}

/// CONNECT (RFC 9110 §9.3.6).
struct ConnectNegotiation: TunnelNegotiation {
    let authority: String
    let authorization: String?
    let userAgent: String

    /// Bytes of an answer's head that are read at most.
    private static let maxHead = 64 << 10

    mutating func opening() -> ByteBuffer {
        var text = "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n"
        if let authorization { text += "Proxy-Authorization: \(authorization)\r\n" }
        return ByteBuffer(string: text + "User-Agent: \(userAgent)\r\n\r\n")
    }

    mutating func advance(_ received: inout ByteBuffer) -> TunnelStep {
        while true {
            let bytes = received.readableBytesView
            // Bare line feeds are read, too (RFC 9112 §2.2).
            let ends = ["\n\r\n", "\n\n"].compactMap { bytes.firstRange(of: $0.utf8)?.upperBound }
            guard let end = ends.min() else {
                return bytes.count > Self.maxHead ? .fail(.unreadable) : .needsMore
            }
            let line = String(decoding: bytes.prefix { $0 != 0x0D && $0 != 0x0A }, as: UTF8.self)
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].utf8.count == 3, let status = Int(words[1])
            else { return .fail(.unreadable) }
            received.moveReaderIndex(forwardBy: end - bytes.startIndex)
            switch status {
            case 100..<200: continue
            case 200..<300: return .open
            case 407: return .fail(.credentials("407"))
            case 408, 429, 500..<600: return .fail(.unreachable("it answers \(status)"))
            default: return .fail(.forbidden("it answers \(status)"))
            }
        }
    }
}

/// SOCKS version 5 (RFC 1928), without a password.
struct SOCKSNegotiation: TunnelNegotiation {
    enum Destination: Equatable, Sendable {
        /// Four or sixteen bytes.
        case address([UInt8])
        /// At most 255 bytes.
        case name(String)
    }

    private let destination: Destination
    private let port: UInt16
    private var isConnecting = false

    /// - Returns: nil when the name is too long for SOCKS.
    init?(to destination: Destination, port: Int) {
        if case .name(let name) = destination, !(1...255).contains(name.utf8.count) { return nil }
        self.destination = destination
        self.port = UInt16(clamping: port)
    }

    mutating func opening() -> ByteBuffer { ByteBuffer(bytes: [5, 1, 0]) }

    mutating func advance(_ received: inout ByteBuffer) -> TunnelStep {
        if isConnecting { return readReply(&received) }
        guard let (version, method) = Self.pair(&received) else { return .needsMore }
        guard version == 5 else { return .fail(.unreadable) }
        guard method == 0 else {
            return .fail(.credentials("it wants a password, which SOCKS proxies are not given here"))
        }
        isConnecting = true
        return .send(connectRequest)
    }

    private static func pair(_ received: inout ByteBuffer) -> (UInt8, UInt8)? {
        received.readMultipleIntegers(as: (UInt8, UInt8).self)
    }

    private var connectRequest: ByteBuffer {
        var buffer = ByteBuffer(bytes: [5, 1, 0])
        switch destination {
        case .address(let bytes):
            buffer.writeInteger(UInt8(bytes.count == 4 ? 1 : 4))
            buffer.writeBytes(bytes)
        case .name(let name):
            buffer.writeBytes([3, UInt8(name.utf8.count)])
            buffer.writeString(name)
        }
        buffer.writeInteger(port)
        return buffer
    }

    /// The reply ends with an address that says nothing to us; it must be there whole all the same.
    private func readReply(_ received: inout ByteBuffer) -> TunnelStep {
        var look = received
        guard let (version, status) = Self.pair(&look) else { return .needsMore }
        guard version == 5 else { return .fail(.unreadable) }
        // Some proxies end a refusal here.
        guard status == 0 else { return .fail(Self.refusal(status)) }
        guard let (_, kind) = Self.pair(&look) else { return .needsMore }
        let length: Int
        switch kind {
        case 1: length = 4
        case 4: length = 16
        case 3:
            guard let count: UInt8 = look.readInteger() else { return .needsMore }
            length = Int(count)
        default: return .fail(.unreadable)
        }
        guard look.readSlice(length: length + 2) != nil else { return .needsMore }
        received = look
        return .open
    }

    private static func refusal(_ status: UInt8) -> TunnelRefusal {
        switch status {
        case 2: .forbidden("its rules do not allow it")
        case 3: .unreachable("the server's network cannot be reached")
        case 4: .unreachable("the server cannot be reached")
        case 5: .unreachable("the server refuses the connection")
        case 6: .unreachable("the server does not answer")
        case 7, 8: .forbidden("it cannot make such connections")
        default: .unreachable("it fails without saying why (\(status))")
        }
    }
}
