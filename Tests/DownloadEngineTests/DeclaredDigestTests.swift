import BookModel
import Testing

@testable import DownloadEngine

@Suite struct DeclaredDigestTests {
    // Of the bytes "hello".
    private static let sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    private static let sha256Base64 = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="
    private static let md5 = "5d41402abc4b2a76b9719d911017c592"
    private static let md5Base64 = "XUFAKrxLKna5cZ2REBfFkg=="
    private static let sha1 = "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"
    private static let sha1Base64 = "qvTGHdzF6KLavt4PO0gs2a6pQ00="

    @Test func `Repr-Digest is a structured field`() {
        let found = DeclaredDigest.strongest(
            representation: "unixsum=:AAA=:, sha-256=:\(Self.sha256Base64):", instance: nil, contentMD5: nil)
        #expect(found == ContentDigest(algorithm: .sha256, hexadecimal: Self.sha256))
    }

    @Test func `the older Digest field is read as well`() {
        let found = DeclaredDigest.strongest(
            representation: nil, instance: "MD5=\(Self.md5Base64),SHA=\(Self.sha1Base64)", contentMD5: nil)
        #expect(found == ContentDigest(algorithm: .sha1, hexadecimal: Self.sha1))
    }

    @Test func `Content-MD5 is better than nothing`() {
        let found = DeclaredDigest.strongest(representation: nil, instance: nil, contentMD5: Self.md5Base64)
        #expect(found == ContentDigest(algorithm: .md5, hexadecimal: Self.md5))
    }

    @Test(arguments: [
        "", "sha-256", "sha-256=", "sha-256=\(sha256Base64)", "sha-256=:\(md5Base64):", "sha-256=:!!!:",
        "sha-512=:\(sha256Base64):",
    ])
    func `what is no digest of ours declares nothing`(field: String) {
        #expect(DeclaredDigest.strongest(representation: field, instance: nil, contentMD5: nil) == nil)
    }
}
