import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An answer as the HTTP client hands it over on an event loop: the head, then the parts of the body, which a reader takes
/// one after the other. A reader on the same loop takes them without a change of thread; the client's own asynchronous
/// interface would make a task on another thread for each request.
///
/// Parts that nobody has taken yet pause the connection when they are more than ``maxBuffered`` bytes.
final class ResponseStream: HTTPClientResponseDelegate {
    private struct State {
        var head: Result<HTTPResponseHead, any Error>?
        var headReader: CheckedContinuation<HTTPResponseHead, any Error>?
        var parts = CircularBuffer<ByteBuffer>()
        var buffered = 0
        /// Has the client go on reading.
        var resumption: EventLoopPromise<Void>?
        var ending: Result<ByteBuffer?, any Error>?
        var partReader: CheckedContinuation<ByteBuffer?, any Error>?

        /// The next part or the end, if it is there, and what has the client go on.
        mutating func takeNext() -> (next: Result<ByteBuffer?, any Error>?, resumption: EventLoopPromise<Void>?) {
            guard let part = parts.popFirst() else { return (ending, nil) }
            buffered -= part.readableBytes
            guard buffered <= ResponseStream.maxBuffered else { return (.success(part), nil) }
            defer { resumption = nil }
            return (.success(part), resumption)
        }
    }

    private static let maxBuffered = 256 << 10
    private let state = Mutex(State())

    /// Sends the request and returns when the head of the answer is there.
    ///
    /// - Parameter timeout: for the head.
    static func open(
        _ request: HTTPClient.Request, by client: HTTPClient, within timeout: TimeAmount
    ) async throws -> (head: HTTPResponseHead, body: Body) {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
        let stream = ResponseStream()
        let exchange = client.execute(request: request, delegate: stream, eventLoop: .delegate(on: eventLoop))
        let timer = eventLoop.scheduleTask(in: timeout) { exchange.fail(reason: HTTPClientError.deadlineExceeded) }
        defer { timer.cancel() }
        let body = Body(stream: stream, exchange: exchange)
        let head = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { stream.read(headFor: $0) }
        } onCancel: {
            exchange.fail(reason: CancellationError())
        }
        return (head, body)
    }

    /// What is still to come. Whoever lets go of it ends the exchange.
    final class Body: Sendable {
        private let stream: ResponseStream
        private let exchange: HTTPClient.Task<Void>

        fileprivate init(stream: ResponseStream, exchange: HTTPClient.Task<Void>) {
            self.stream = stream
            self.exchange = exchange
        }

        deinit {
            if !stream.hasEnded { exchange.fail(reason: CancellationError()) }
        }

        /// The next part; nil at the end. Asked by one reader, one call after the other.
        func next() async throws -> ByteBuffer? {
            if Task.isCancelled { exchange.fail(reason: CancellationError()) }
            if let next = stream.nextBuffered() { return try next.get() }
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { stream.read(partFor: $0) }
            } onCancel: {
                exchange.fail(reason: CancellationError())
            }
        }
    }

    private var hasEnded: Bool { state.withLock { $0.ending != nil } }

    private func read(headFor reader: CheckedContinuation<HTTPResponseHead, any Error>) {
        let head = state.withLock { state in
            if state.head == nil { state.headReader = reader }
            return state.head
        }
        if let head { reader.resume(with: head) }
    }

    private func nextBuffered() -> Result<ByteBuffer?, any Error>? {
        let (next, resumption) = state.withLock { $0.takeNext() }
        resumption?.succeed()
        return next
    }

    private func read(partFor reader: CheckedContinuation<ByteBuffer?, any Error>) {
        let (next, resumption) = state.withLock { state in
            let taken = state.takeNext()
            if taken.next == nil { state.partReader = reader }
            return taken
        }
        resumption?.succeed()
        if let next { reader.resume(with: next) }
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        let reader = state.withLock { state in
            state.head = .success(head)
            defer { state.headReader = nil }
            return state.headReader
        }
        reader?.resume(returning: head)
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
        let (reader, resumption) = state.withLock {
            state -> (CheckedContinuation<ByteBuffer?, any Error>?, EventLoopPromise<Void>?) in
            if let reader = state.partReader {
                state.partReader = nil
                return (reader, nil)
            }
            state.parts.append(part)
            state.buffered += part.readableBytes
            if state.buffered > Self.maxBuffered { state.resumption = task.eventLoop.makePromise() }
            return (nil, state.resumption)
        }
        reader?.resume(returning: part)
        return resumption?.futureResult ?? task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) {
        end(with: .success(nil))
    }

    func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) {
        end(with: .failure(error))
    }

    private func end(with ending: Result<ByteBuffer?, any Error>) {
        let (headReader, partReader, resumption) = state.withLock { state in
            state.ending = ending
            if state.head == nil, case .failure(let error) = ending { state.head = .failure(error) }
            defer { (state.headReader, state.partReader, state.resumption) = (nil, nil, nil) }
            return (state.headReader, state.partReader, state.resumption)
        }
        // Nobody reads before there is a head; an answer without one is a failure.
        if case .failure(let error) = ending { headReader?.resume(throwing: error) }
        partReader?.resume(with: ending)
        resumption?.succeed()
    }
}
