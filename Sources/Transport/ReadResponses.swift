import BookModel
import NIOCore
import NIOHTTP1
import Synchronization

/// Responses that were read to find out what is at an address, each for the next request for it: so nothing is downloaded a
/// second time for that.
package final class ReadResponses: Sendable, Hashable {
    private typealias Kept = (response: HTTPResponse, credentials: HTTPHeaders)

    /// Bytes of all bodies together.
    package static let maxLength = 64 << 20

    private let state = Mutex<(kept: [ResourceAddress: Kept], length: Int)>(([:], 0))

    package init() {}

    /// - Parameters:
    ///   - address: what it answers from now on; permanent redirects are behind it.
    ///   - credentials: what was sent for it.
    func keep(_ response: HTTPResponse, body: ByteBuffer, at address: ResourceAddress, credentials: HTTPHeaders) {
        var response = response
        response.movedTo = nil
        // What is kept was read, and decoded, already.
        response.headers.remove(name: "Content-Encoding")
        response.body = HTTPResponseBody(
            base: nil, tail: [body], address: response.address, limits: response.body.limits, endsWithConnection: false)
        state.withLock { state in
            guard state.length + body.readableBytes <= Self.maxLength else { return }
            state.length += body.readableBytes
            state.kept[address] = (response, credentials)
        }
    }

    /// - Returns: nil if there is none, or it was sent for other credentials.
    func response(at address: ResourceAddress, credentials: HTTPHeaders) -> HTTPResponse? {
        state.withLock { $0.kept[address].flatMap { $0.credentials == credentials ? $0.response : nil } }
    }

    func remove(_ address: ResourceAddress) { state.withLock { _ = $0.kept.removeValue(forKey: address) } }

    package static func == (one: ReadResponses, other: ReadResponses) -> Bool { one === other }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
