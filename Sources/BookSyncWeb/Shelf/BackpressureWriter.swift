import Hummingbird
import NIOCore

/// Takes no more of a body than the connection has room for.
///
/// What is written goes to an event loop, which tells only when it comes to it that the connection is full. Until then a
/// writer takes whatever comes, and while many clients begin at once that can be hundreds of megabytes. So each write
/// waits until the event loop has come to it; then the next one waits for room.
private struct BackpressureWriter: ResponseBodyWriter {
    var writer: any ResponseBodyWriter
    let eventLoop: any EventLoop

    mutating func write(_ buffer: ByteBuffer) async throws {
        try await writer.write(buffer)
        try await eventLoop.submit {}.get()
    }

    mutating func write(contentsOf buffers: some Sequence<ByteBuffer>) async throws {
        try await writer.write(contentsOf: buffers)
        try await eventLoop.submit {}.get()
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await writer.finish(trailingHeaders)
    }
}

extension ResponseBody {
    /// Bytes that a connection may well hold at once.
    private static let smallLength = 64 << 10

    /// The same, written in step with the event loop of the connection.
    func steady(on eventLoop: any EventLoop) -> ResponseBody {
        if let contentLength, contentLength <= Self.smallLength { return self }
        let body = self
        return ResponseBody(contentLength: contentLength) { writer in
            try await body.write(BackpressureWriter(writer: writer, eventLoop: eventLoop))
        }
    }
}
