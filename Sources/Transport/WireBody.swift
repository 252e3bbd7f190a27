import AsyncHTTPClient
import BookModel
import NIOCore

/// The bytes of an answer as they arrive. Reading pauses the connection while the reader is busy.
///
/// When the connection fails midway, every byte that was received is delivered before the ``WireFailure`` is thrown.
package struct WireBody: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer

    let base: HTTPClientResponse.Body
    /// Where it comes from.
    package let address: ResourceAddress

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: base.makeAsyncIterator(), address: address)
    }

    package struct AsyncIterator: AsyncIteratorProtocol {
        var base: HTTPClientResponse.Body.AsyncIterator
        let address: ResourceAddress
        private var consumed = 0
        private var tail: ArraySlice<ByteBuffer> = []
        private var ending: (any Error)?

        init(base: HTTPClientResponse.Body.AsyncIterator, address: ResourceAddress) {
            self.base = base
            self.address = address
        }

        package mutating func next() async throws -> ByteBuffer? {
            if let ending {
                guard let part = tail.popFirst() else { throw ending }
                return part
            }
            do {
                let part = try await base.next()
                consumed += part?.readableBytes ?? 0
                return part
            } catch let interruption as InterruptedBody {
                ending = WireFailure.classify(interruption.underlying, address: address)
                // Parts that do not add up would leave a hole in the file: then they are not used.
                let held = interruption.parts.reduce(0) { $0 + $1.readableBytes }
                if consumed + held == interruption.bytesReceived { tail = interruption.parts[...] }
                return try await next()
            } catch {
                throw WireFailure.classify(error, address: address)
            }
        }
    }
}
