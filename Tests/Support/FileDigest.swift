import Crypto
import Foundation

/// Lower-case hexadecimal SHA-256 of a file, read in small parts.
package func sha256(ofFileAt path: String) throws -> String {
    let file = try FileHandle(forReadingFrom: URL(filePath: path))
    defer { _ = Result { try file.close() } }
    var digest = SHA256()
    while let part = try file.read(upToCount: 1 << 16), !part.isEmpty { digest.update(data: part) }
    return digest.finalize().map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}
