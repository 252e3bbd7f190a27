import BookModel
import Crypto
import Foundation

/// Digests of the same bytes, computed side by side.
package struct Digests {
    private var functions: [(algorithm: ContentDigest.Algorithm, function: any HashFunction)]

    package init(_ algorithms: Set<ContentDigest.Algorithm>) {
        functions = algorithms.map { algorithm in
            switch algorithm {
            case .md5: (algorithm, Insecure.MD5())
            case .sha1: (algorithm, Insecure.SHA1())
            case .sha256: (algorithm, SHA256())
            }
        }
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        for index in functions.indices { functions[index].function.update(bufferPointer: bytes) }
    }

    /// Of the bytes so far, in lower-case hexadecimal.
    package var values: [ContentDigest.Algorithm: String] {
        functions.reduce(into: [:]) { $0[$1.algorithm] = $1.function.finalize().withUnsafeBytes(\.hexadecimal) }
    }
}
