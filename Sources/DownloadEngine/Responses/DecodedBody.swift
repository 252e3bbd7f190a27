import BookModel
import LibraryFiles
import NIOCore
import Transport

/// How an answer's body is coded (RFC 9110 §8.4).
enum ContentCoding: Equatable, Sendable {
    case identity, gzip, deflate
    /// One that is not decoded here, or several on top of one another.
    case unknown(Message)

    /// The registered codings (RFC 9110 §16.6.1). Any other name, such as `utf-8` or `aws-chunked`, is a wrong label.
    private static let registered: Set<Substring> = [
        "aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "x-compress", "x-gzip",
        "zstd",
    ]

    /// Of the field `Content-Encoding`.
    init(parsing field: String?) {
        let names = (field ?? "").lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
            .filter(Self.registered.contains)
        switch names.first {
        case nil: self = .identity
        case "gzip", "x-gzip": self = names.count == 1 ? .gzip : .unknown("several codings")
        case "deflate": self = names.count == 1 ? .deflate : .unknown("several codings")
        case let name?: self = .unknown(names.count == 1 ? Message(verbatim: String(name)) : "several codings")
        }
    }

    /// Whether a body of it can be turned into the file's bytes.
    var isDecodable: Bool { self == .gzip || self == .deflate }
}

/// A body as the file's own bytes, decoded as it arrives and never held whole.
///
/// The end of a coded body is told by the coding: one that stops before its checksum is a cut connection, whatever its
/// length; one whose checksum does not fit is an answer that makes no sense. What it may grow to is bounded, since a
/// small answer could otherwise fill the disk.
struct DecodedBody: AsyncSequence, Sendable {
    struct Part: Sendable {
        /// Maybe none.
        var bytes: ByteBuffer
        /// Bytes off the wire that have come since the part before.
        var received: Int
    }

    let coding: ContentCoding
    private let iterator: HTTPResponseBody.AsyncIterator
    /// What was read of it already.
    private let beginning: ByteBuffer
    private let address: ResourceAddress
    /// What the catalog says that the file has.
    private let promisedSize: Int64?

    /// Whether the body's own checksum tells that it is whole.
    var provesItsEnd: Bool { coding.isDecodable }

    init(_ answer: HTTPResponse) {
        coding = .identity
        iterator = answer.body.makeAsyncIterator()
        beginning = ByteBuffer()
        address = answer.address
        promisedSize = nil
    }

    /// Looks at the first bytes of a body with a coding: those of audio are not coded, whatever the label says. No format
    /// of audio begins as gzip or zlib do.
    init(_ answer: HTTPResponse, labelled coding: ContentCoding, promisedSize: Int64?) async {
        var iterator = answer.body.makeAsyncIterator()
        var beginning = ByteBuffer()
        // What fails here fails again behind these bytes.
        while beginning.readableBytes < AudioSignature.wanted, var part = try? await iterator.next() {
            beginning.writeBuffer(&part)
        }
        self.iterator = iterator
        self.beginning = beginning
        let isAudio = AudioSignature.isKnownAudio(Array(beginning.readableBytesView.prefix(AudioSignature.wanted)))
        self.coding = isAudio ? .identity : coding
        self.promisedSize = promisedSize
        address = answer.address
    }

    /// Bytes that may come out of so many bytes: audio hardly shrinks at all, so that a hundredfold is beyond all
    /// measure, but short silence may. Where the catalog names a size, twice that is the most.
    static func maxLength(ofReceived received: Int64, promisedSize: Int64?) -> Int64 {
        let (grown, overflow) = received.multipliedReportingOverflow(by: 100)
        let byRatio = overflow ? Int64.max : Swift.max(grown, 64 << 20)
        guard let promisedSize, promisedSize > 0, promisedSize < .max / 4 else { return byRatio }
        return Swift.min(byRatio, 2 * promisedSize + (1 << 20))
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            base: iterator, beginning: beginning, address: address, promisedSize: promisedSize,
            inflater: coding.isDecodable ? Inflater(coding) : nil)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        /// Decoded bytes that are handed on at once.
        private static let pieceLength = 128 << 10

        private var base: HTTPResponseBody.AsyncIterator
        private var beginning: ByteBuffer
        private let address: ResourceAddress
        private let promisedSize: Int64?
        private let inflater: Inflater?
        private var rest = ByteBuffer()
        private var received: Int64 = 0
        private var decoded: Int64 = 0

        fileprivate init(
            base: HTTPResponseBody.AsyncIterator, beginning: ByteBuffer, address: ResourceAddress,
            promisedSize: Int64?, inflater: Inflater?
        ) {
            self.base = base
            self.beginning = beginning
            self.address = address
            self.promisedSize = promisedSize
            self.inflater = inflater
        }

        mutating func next() async throws -> Part? {
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
                return try await base.next()
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
            let limit = DecodedBody.maxLength(ofReceived: received, promisedSize: promisedSize)
            if decoded > limit { throw TransportError(.oversized(limit: Int(clamping: limit)), address: address) }
            return piece
        }
    }
}
