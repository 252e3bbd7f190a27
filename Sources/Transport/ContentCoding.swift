import BookModel

/// How an answer's body is coded (RFC 9110 §8.4).
package enum ContentCoding: Equatable, Sendable {
    case identity, gzip, deflate
    /// One that is not decoded here, or several on top of one another.
    case unknown(Message)

    /// The registered codings (RFC 9110 §16.6.1). Any other name, such as `utf-8` or `aws-chunked`, is a wrong label.
    private static let registered: Set<Substring> = [
        "aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "x-compress", "x-gzip",
        "zstd",
    ]

    /// The coding in the field `Content-Encoding`.
    package init(parsing field: String?) {
        let names = (field ?? "").lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
            .filter(Self.registered.contains)
        switch names.first {
        case nil: self = .identity
        case "gzip", "x-gzip": self = names.count == 1 ? .gzip : .unknown("several codings")
        case "deflate": self = names.count == 1 ? .deflate : .unknown("several codings")
        case let name?: self = .unknown(names.count == 1 ? Message(verbatim: String(name)) : "several codings")
        }
    }

    /// True if a body of it can be decoded here. Its own checksum tells then that it is whole.
    package var isDecodable: Bool { self == .gzip || self == .deflate }
}

extension ContentCoding {
    /// The number of first bytes that show a document's coding.
    static let signatureLength = 16

    /// The coding by a document's first bytes. Gzip and zlib have signatures; of bare deflate, and of what is not decoded here, the
    /// label counts, unless the bytes are text.
    init(ofDocument beginning: [UInt8], labelled label: ContentCoding) {
        switch beginning.prefix(2).reduce(0, { $0 << 8 | UInt16($1) }) {
        case 0x1F8B: self = .gzip
        case 0x7801, 0x785E, 0x789C, 0x78DA: self = .deflate
        default:
            let isMarked = beginning.starts(with: [0xEF, 0xBB, 0xBF])
            let isText = beginning.dropFirst(isMarked ? 3 : 0).allSatisfy {
                (0x20...0x7E).contains($0) || (0x09...0x0D).contains($0)
            }
            self = isText || label == .gzip ? .identity : label
        }
    }
}
