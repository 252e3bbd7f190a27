import NIOCore
import NIOHTTP1
import Synchronization

/// An answer as its connection hands it over on an event loop: the head, then the parts of the body, which a reader takes one
/// after the other. A reader on the same loop takes them without a change of thread.
///
/// Parts that nobody has taken yet pause the connection when they are more than ``maxBuffered`` bytes. What came before a
/// connection failed is taken before the failure.
final class ResponseStream: Sendable {
    private struct State {
        var head: Result<HTTPResponseHead, any Error>?
        var headReader: CheckedContinuation<HTTPResponseHead, any Error>?
        var parts = CircularBuffer<ByteBuffer>()
        var buffered = 0
        var isPaused = false
        var ending: Result<ByteBuffer?, any Error>?
        var partReader: CheckedContinuation<ByteBuffer?, any Error>?
        /// Until the end.
        var connection: HTTPConnection?

        /// The next part or the end, if it is there, and the connection that has to go on.
        mutating func takeNext() -> (next: Result<ByteBuffer?, any Error>?, paused: HTTPConnection?) {
            guard let part = parts.popFirst() else { return (ending, nil) }
            buffered -= part.readableBytes
            guard isPaused, buffered <= ResponseStream.maxBuffered else { return (.success(part), nil) }
            isPaused = false
            return (.success(part), connection)
        }
    }

    private static let maxBuffered = 256 << 10
    private let state = Mutex(State())

    /// Returns when the head of the answer is there.
    ///
    /// - Parameters:
    ///   - timeout: for the head.
    ///   - send: has a request sent whose answer goes to the stream.
    static func open(
        within timeout: TimeAmount, on eventLoop: any EventLoop, _ send: (ResponseStream) -> Void
    ) async throws -> (head: HTTPResponseHead, body: Body) {
        let stream = ResponseStream()
        let body = Body(stream: stream)
        // A head that came in time may find its reader late.
        let timer = eventLoop.scheduleTask(in: timeout) {
            if !stream.hasHead { stream.abandon(with: ExchangeFailure.stalled) }
        }
        defer { timer.cancel() }
        send(stream)
        let head = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { stream.read(headFor: $0) }
        } onCancel: {
            stream.abandon(with: CancellationError())
        }
        return (head, body)
    }

    /// What is still to come. Whoever lets go of it ends the exchange.
    final class Body: Sendable {
        private let stream: ResponseStream

        fileprivate init(stream: ResponseStream) {
            self.stream = stream
        }

        deinit {
            stream.abandon(with: CancellationError())
        }

        /// The next part; nil at the end. Asked by one reader, one call after the other.
        func next() async throws -> ByteBuffer? {
            if Task.isCancelled { stream.abandon(with: CancellationError()) }
            if let next = stream.takeNext(for: nil) { return try next.get() }
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { reader in
                    if let next = stream.takeNext(for: reader) { reader.resume(with: next) }
                }
            } onCancel: {
                stream.abandon(with: CancellationError())
            }
        }
    }

    // MARK: Reading

    private var hasHead: Bool { state.withLock { $0.head != nil } }

    private func read(headFor reader: CheckedContinuation<HTTPResponseHead, any Error>) {
        let head = state.withLock { state in
            if state.head == nil { state.headReader = reader }
            return state.head
        }
        if let head { reader.resume(with: head) }
    }

    /// - Parameter reader: gets what comes next where nothing is there yet.
    private func takeNext(for reader: CheckedContinuation<ByteBuffer?, any Error>?) -> Result<ByteBuffer?, any Error>? {
        let (next, paused) = state.withLock { state in
            let taken = state.takeNext()
            if taken.next == nil { state.partReader = reader }
            return taken
        }
        paused?.resume()
        return next
    }

    /// Ends an exchange that nobody wants any more.
    private func abandon(with error: any Error) {
        let connection = state.withLock { $0.connection }
        end(with: .failure(error))
        // By now it may have been given to another exchange.
        connection?.drop(self)
    }

    // MARK: Receiving

    /// - Returns: false if nobody waits for an answer any more.
    func attach(to connection: HTTPConnection) -> Bool {
        state.withLock { state in
            if state.ending == nil { state.connection = connection }
            return state.ending == nil
        }
    }

    /// Whether the connection waits for the reader.
    var isPaused: Bool { state.withLock { $0.isPaused } }

    func receive(_ head: HTTPResponseHead) {
        let reader = state.withLock { state in
            if state.head == nil { state.head = .success(head) }
            defer { state.headReader = nil }
            return state.headReader
        }
        reader?.resume(returning: head)
    }

    /// - Returns: whether the connection must pause.
    func receive(_ part: ByteBuffer) -> Bool {
        let (reader, mustPause) = state.withLock { state -> (CheckedContinuation<ByteBuffer?, any Error>?, Bool) in
            if let reader = state.partReader {
                state.partReader = nil
                return (reader, false)
            }
            guard state.ending == nil else { return (nil, false) }
            state.parts.append(part)
            state.buffered += part.readableBytes
            state.isPaused = state.buffered > Self.maxBuffered
            return (nil, state.isPaused)
        }
        reader?.resume(returning: part)
        return mustPause
    }

    /// Only the first end counts. One without a head is a failure.
    func end(with ending: Result<ByteBuffer?, any Error>) {
        let failure: any Error = if case .failure(let error) = ending { error } else { ChannelError.eof }
        let (headReader, partReader) = state.withLock { state in
            if state.ending == nil {
                state.ending = ending
                if state.head == nil { state.head = .failure(failure) }
            }
            (state.connection, state.isPaused) = (nil, false)
            defer { (state.headReader, state.partReader) = (nil, nil) }
            return (state.headReader, state.partReader)
        }
        headReader?.resume(throwing: failure)
        partReader?.resume(with: ending)
    }
}
