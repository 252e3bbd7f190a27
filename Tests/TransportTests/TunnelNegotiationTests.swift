import BookModel
import NIOCore
import Testing

@testable import Transport

/// Case 32 of the download cases: the talk with a proxy, without a proxy.
@Suite struct TunnelNegotiationTests {
    /// What the negotiation does with the bytes, given at once or one after the other: all its steps but "more".
    private func steps(_ negotiation: any TunnelNegotiation, _ bytes: [UInt8], atOnce: Bool) -> [TunnelStep] {
        var negotiation = negotiation
        var received = ByteBuffer()
        var steps: [TunnelStep] = []
        for piece in atOnce ? [bytes] : bytes.map({ [$0] }) {
            received.writeBytes(piece)
            while true {
                let step = negotiation.advance(&received)
                if step == .needsMore { break }
                steps.append(step)
                if case .send = step { continue }
                return steps
            }
        }
        return steps
    }

    private var connect: ConnectNegotiation {
        ConnectNegotiation(authority: "h:443", authorization: "Basic eDp5", userAgent: "booksync")
    }

    @Test func `case 32: CONNECT names the server, and says who one is to the proxy`() {
        var negotiation = connect
        #expect(
            String(buffer: negotiation.opening())
                == "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nProxy-Authorization: Basic eDp5\r\nUser-Agent: booksync\r\n\r\n"
        )
    }

    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\r\n\r\n", .open), ("HTTP/1.0 200\r\nA: b\r\n\r\n", .open), ("HTTP/1.1 204 x\n\n", .open),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", .open),
            ("HTTP/1.1 407 No\r\nA: b\r\n\r\n", .fail(.credentials("407"))),
            ("HTTP/1.1 403 No\r\n\r\n", .fail(.forbidden("it answers \(403)"))),
            ("HTTP/1.1 502 No\r\n\r\n", .fail(.unreachable("it answers \(502)"))),
            ("\u{5}\u{0}\r\n\r\n", .fail(.unreadable)), ("SSH-2.0-x\r\n\r\n", .fail(.unreadable)),
            ("HTTP/1.1 2xx\r\n\r\n", .fail(.unreadable)),
        ] as [(String, TunnelStep)], [true, false])
    func `case 32: an answer to CONNECT is read, however it is cut up`(answer: (String, TunnelStep), atOnce: Bool) {
        #expect(steps(connect, Array(answer.0.utf8), atOnce: atOnce) == [answer.1])
    }

    @Test func `case 32: a head without an end is not read for ever`() {
        #expect(steps(connect, Array(repeating: 0x41, count: 65_537), atOnce: true) == [.fail(.unreadable)])
    }

    @Test func `case 32: what follows the proxy's answer is the server's`() {
        var negotiation = connect
        var received = ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\nSSH")
        #expect(negotiation.advance(&received) == .open)
        #expect(String(buffer: received) == "SSH")
    }

    private func socks(_ destination: SOCKSNegotiation.Destination) throws -> SOCKSNegotiation {
        try #require(SOCKSNegotiation(to: destination, port: 443))
    }

    @Test(arguments: [true, false])
    func `case 32: SOCKS connects to a name and an address`(atOnce: Bool) throws {
        let name: [UInt8] = [5, 1, 0, 3, 1, 0x68, 1, 0xBB]
        let accepted: [UInt8] = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        var negotiation = try socks(.name("h"))
        #expect(Array(buffer: negotiation.opening()) == [5, 1, 0])
        #expect(steps(negotiation, [5, 0] + accepted, atOnce: atOnce) == [.send(.init(bytes: name)), .open])

        let six = [UInt8](repeating: 7, count: 16)
        #expect(
            steps(try socks(.address(six)), [5, 0] + [5, 0, 0, 4] + six + [0, 0], atOnce: atOnce)
                == [.send(.init(bytes: [5, 1, 0, 4] + six + [1, 0xBB])), .open])
        let four: [UInt8] = [192, 0, 2, 1]
        #expect(
            steps(try socks(.address(four)), [5, 0], atOnce: atOnce)
                == [.send(.init(bytes: [5, 1, 0, 1] + four + [1, 0xBB]))])
    }

    @Test(
        arguments: [
            ([4, 0], .fail(.unreadable)), ([72, 84], .fail(.unreadable)),
            ([5, 0xFF], .fail(.credentials("it wants a password, which SOCKS proxies are not given here"))),
            // Asks for what was not offered.
            ([5, 2], .fail(.credentials("it wants a password, which SOCKS proxies are not given here"))),
            ([5, 0, 5, 5], .fail(.unreachable("the server refuses the connection"))),
            ([5, 0, 5, 2], .fail(.forbidden("its rules do not allow it"))),
            ([5, 0, 5, 0, 0, 9, 0, 0], .fail(.unreadable)), ([5, 0, 4, 0], .fail(.unreadable)),
        ] as [([UInt8], TunnelStep)])
    func `case 32: what a SOCKS proxy refuses, and what it garbles, is told`(bytes: [UInt8], last: TunnelStep) throws {
        #expect(steps(try socks(.name("h")), bytes, atOnce: true).last == last)
    }

    @Test func `case 32: names that SOCKS cannot carry are refused`() {
        #expect(SOCKSNegotiation(to: .name(String(repeating: "a", count: 256)), port: 1) == nil)
    }
}
