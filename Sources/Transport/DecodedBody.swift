import BookModel
import NIOCore

/// A body as the file's or the document's own bytes, decoded as it arrives and never held whole.
///
/// The end of a coded body is told by the coding: one that stops before its checksum is a cut connection, whatever its
/// length; one whose checksum does not fit is an answer that makes no sense. What it may grow to is bounded, since a
/// small answer could otherwise fill the disk.
package struct DecodedBody: AsyncSequence, AsyncIteratorProtocol {
    package struct Part: Sendable {
        /// Maybe none.
        package var bytes: ByteBuffer
        /// Bytes off the wire that have come since the part before.
        package var received: Int
    }

    package let coding: ContentCoding
    private var body: HTTPResponseBody
    /// What was read of it already.
    private var beginning = ByteBuffer()
    private let address: ResourceAddress
    /// What the catalog says that the file has.
    private let promisedSize: Int64?
    /// Decoded bytes that are handed on at once.
    private static let pieceLength = 128 << 10
    private let inflater: Inflater?
    private var rest = ByteBuffer()
    private var received: Int64 = 0
    private var decoded: Int64 = 0

    /// - Parameters:
    ///   - count: the first bytes to look at.
    ///   - ignoresWhatFollows: whether bytes behind the end of the coding are left out, as browsers do.
    ///   - coding: decides by them how the body is coded, whatever the label says.
    package init(
        _ answer: HTTPResponse, promisedSize: Int64? = nil, byFirst count: Int = 0, ignoresWhatFollows: Bool = false,
        coding: ([UInt8]) -> ContentCoding = { _ in .identity }
    ) async {
        body = answer.body
        // What fails here fails again behind these bytes.
        while beginning.readableBytes < count, var part = try? await body.next() {
            beginning.writeBuffer(&part)
        }
        let coding = coding(Array(beginning.readableBytesView.prefix(count)))
        self.coding = coding
        inflater = coding.isDecodable ? Inflater(coding, ignoresWhatFollows: ignoresWhatFollows) : nil
        self.promisedSize = promisedSize
        address = answer.address
    }

    /// The body of a document.
    package init(ofDocument answer: HTTPResponse) async {
        await self.init(answer, byFirst: ContentCoding.signatureLength, ignoresWhatFollows: true) {
            ContentCoding(ofDocument: $0, labelled: answer.contentCoding)
        }
    }

    /// Bytes that may come out of so many bytes: audio hardly shrinks at all, so that a hundredfold is beyond all
    /// measure, but short silence may. Where the catalog names a size, twice that is the most.
    package static func maxLength(ofReceived received: Int64, promisedSize: Int64?) -> Int64 {
        let (grown, overflow) = received.multipliedReportingOverflow(by: 100)
        let byRatio = overflow ? Int64.max : Swift.max(grown, 64 << 20)
        guard let promisedSize, promisedSize > 0, promisedSize < .max / 4 else { return byRatio }
        return Swift.min(byRatio, 2 * promisedSize + (1 << 20))
    }

    package func makeAsyncIterator() -> DecodedBody { self }

    package mutating func next() async throws -> Part? {
        if case .unknown(let name) = coding { throw TransportError(.coded(name), address: address) }
        guard let inflater else {
            return try await nextReceived().map { Part(bytes: $0, received: $0.readableBytes) }
        }
        if rest.readableBytes > 0 || inflater.hasMore {
            return Part(bytes: try decode(with: inflater), received: 0)
        }
        guard let part = try await nextReceived() else {
            if received > 0, !inflater.isAtEnd { throw TransportError(.cut, address: address) }
            return nil
        }
        received += Int64(part.readableBytes)
        rest = part
        return Part(bytes: try decode(with: inflater), received: part.readableBytes)
    }

    private mutating func nextReceived() async throws -> ByteBuffer? {
        guard beginning.readableBytes == 0 else {
            defer { beginning = ByteBuffer() }
            return beginning
        }
        do {
            return try await body.next()
        } catch let failure as TransportError where failure.kind == .notClosed && inflater?.isAtEnd == true {
            return nil
        }
    }

    private mutating func decode(with inflater: Inflater) throws -> ByteBuffer {
        let piece: ByteBuffer
        do {
            piece = try inflater.decode(&rest, upTo: Self.pieceLength)
        } catch {
            throw TransportError(.malformed("what it calls compressed is damaged"), address: address)
        }
        decoded += Int64(piece.readableBytes)
        let limit = Self.maxLength(ofReceived: received, promisedSize: promisedSize)
        if decoded > limit { throw TransportError(.oversized(limit: Int(clamping: limit)), address: address) }
        return piece
    }
}
