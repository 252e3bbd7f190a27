import BookModel
import Foundation
import Transport

/// The digests that a server declares for what it sends.
enum DeclaredDigest {
    /// The strongest digest of the whole representation that the head declares and that we can compute: `Repr-Digest`
    /// (RFC 9530 §3), the older `Digest` (RFC 3230 §4.3.2), and for a whole body `Content-MD5` (RFC 1864).
    static func strongest(in answer: HTTPResponse) -> ContentDigest? {
        strongest(
            representation: answer.first("Repr-Digest"), instance: answer.first("Digest"),
            contentMD5: answer.status == 200 ? answer.first("Content-MD5") : nil)
    }

    static func strongest(representation: String?, instance: String?, contentMD5: String?) -> ContentDigest? {
        var found: [ContentDigest.Algorithm: ContentDigest] = [:]
        func record(_ name: Substring, _ base64: Substring) {
            let known: (algorithm: ContentDigest.Algorithm, bytes: Int)? =
                switch name.trimmingCharacters(in: .whitespaces).lowercased() {
                case "sha-256": (.sha256, 32)
                case "sha": (.sha1, 20)
                case "md5": (.md5, 16)
                default: nil
                }
            guard let (algorithm, count) = known, let bytes = Data(base64Encoded: String(base64)), bytes.count == count
            else { return }
            found[algorithm] = found[algorithm] ?? ContentDigest(algorithm: algorithm, hexadecimal: bytes.hexadecimal)
        }
        for member in (representation ?? "").split(separator: ",") {
            // A structured field: `sha-256=:BASE64:`.
            guard let equals = member.firstIndex(of: "=") else { continue }
            let value = member[equals...].dropFirst().drop { $0 == " " }
            guard value.first == ":", let end = value.dropFirst().firstIndex(of: ":") else { continue }
            record(member[..<equals], value[value.index(after: value.startIndex)..<end])
        }
        for member in (instance ?? "").split(separator: ",") {
            guard let equals = member.firstIndex(of: "=") else { continue }
            record(member[..<equals], Substring(member[equals...].dropFirst().trimmingCharacters(in: .whitespaces)))
        }
        if let contentMD5 { record("md5", Substring(contentMD5.trimmingCharacters(in: .whitespaces))) }
        return found[.sha256] ?? found[.sha1] ?? found[.md5]
    }
}
