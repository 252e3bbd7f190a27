import Crypto

/// What a source, a book or an episode is called in the addresses that booksync serves.
///
/// Catalogs' ids may be anything: addresses with secrets in them, names with slashes and dots. What is harmless stands as
/// it is, anything else by its digest. So no served address holds a secret or needs percent-encoding, and nothing of a
/// request's path is ever decoded: what is not one of these names is not there.
package struct Slug: Sendable, Hashable, CustomStringConvertible {
    package let description: String
    /// Whether it is a digest in the name's place.
    package let isDigest: Bool

    /// Bytes of a name that stands as it is.
    private static let maxLength = 80

    /// - Parameter name: the catalog's own.
    package init(of name: String) {
        isDigest = !Self.isPlain(name)
        description = isDigest ? "~" + SHA256.hash(data: Array(name.utf8)).prefix(16).hexadecimal : name
    }

    private static func isPlain(_ name: String) -> Bool {
        let bytes = name.utf8
        guard let first = bytes.first, first != UInt8(ascii: "."), bytes.count <= maxLength,
            bytes.allSatisfy({ $0.isUnreserved && $0 != UInt8(ascii: "~") })
        else { return false }
        // Readers of the catalog's wire format take numbers for numbers: 007 would become 7, and 1e3 a thousand.
        guard bytes.allSatisfy({ "0123456789.eE-".utf8.contains($0) }) else { return true }
        return Int64(name).map { $0 > 0 && String($0) == name } ?? false
    }
}
