import BookModel
import NIOCore
import NIOSSL

/// The bytes of an answer as they arrive. Reading pauses the connection while the reader is busy.
///
/// When the connection fails midway, every byte that was received is delivered before the ``TransportError`` is thrown.
package struct HTTPResponseBody: AsyncSequence, AsyncIteratorProtocol, Sendable {
    /// Nil for a body that was read already, into ``tail``.
    let base: ResponseStream.Body?
    var tail: ArraySlice<ByteBuffer> = []
    /// Where it comes from.
    package let address: ResourceAddress
    var limits: BodyLimits
    /// Whether nothing but the end of the connection tells the end of the body (RFC 9112 §6.3).
    let endsWithConnection: Bool
    private(set) var ending: (any Error)?

    package func makeAsyncIterator() -> HTTPResponseBody { self }

    package mutating func next() async throws -> ByteBuffer? {
        if let ending { throw ending }
        guard let base else { return tail.popFirst() }
        do {
            let start = ContinuousClock.now
            guard let part = try await base.next() else { return nil }
            // What came is delivered first.
            if let kind = limits.breach(by: part.readableBytes, from: start, to: .now) {
                ending = TransportError(kind, address: address)
            }
            return part
        } catch NIOSSLError.uncleanShutdown where endsWithConnection {
            // The bytes of a document show whether it is whole, as they do without TLS.
            if limits.isOfDocument { return nil }
            throw TransportError(.notClosed, address: address)
        } catch {
            throw TransportError.classify(error, address: address)
        }
    }
}

/// How slowly a body may come, and by when it has to be there. Only the time that is spent waiting for the server counts:
/// a reader that takes its time does not make the server slow.
struct BodyLimits: Sendable {
    private let minRate: Double
    private let answerTimeout: Double
    /// Over which the rate is an average. Longer than a single stall, which is no slowness.
    private let window: Double
    private let deadline: ContinuousClock.Instant?
    var isOfDocument: Bool { deadline != nil }
    private var waited = 0.0
    private var bytes = 0

    init(_ options: TransportOptions, deadline: ContinuousClock.Instant?) {
        minRate = options.minRate
        answerTimeout = options.answerTimeout
        window = options.stallTimeout * 2
        self.deadline = deadline
    }

    /// Records that so many bytes came, which were waited for from `start` to `end`.
    /// - Returns: what is wrong with going on; nil for nothing.
    mutating func breach(
        by count: Int, from start: ContinuousClock.Instant, to end: ContinuousClock.Instant
    ) -> TransportError.Kind? {
        if let deadline, end > deadline { return .overtime(seconds: answerTimeout) }
        waited += (end - start) / .seconds(1)
        bytes += count
        guard waited >= window else { return nil }
        defer { (waited, bytes) = (0, 0) }
        return Double(bytes) < minRate * waited ? .tooSlow(bytesPerSecond: minRate) : nil
    }
}
