import BookModel
import Crypto
import Foundation
import Support
import Testing

@testable import DownloadEngine

/// Case 22 of the download cases where the digest is the server's.
@Suite(.limitedConcurrency) struct DigestCaseTests {
    private static let bytes = sampleMP3(bytes: 120_000)
    private static let other = sampleMP3(bytes: 120_000, seed: 2)

    /// A field that declares a digest of the whole.
    enum Field: CaseIterable {
        case reprDigest, digest, contentMD5

        var algorithm: ContentDigest.Algorithm { self == .reprDigest ? .sha256 : .md5 }

        func digest(of bytes: [UInt8]) -> Data {
            algorithm == .sha256 ? Data(SHA256.hash(data: bytes)) : Data(Insecure.MD5.hash(data: bytes))
        }

        func deed(for bytes: [UInt8]) -> Deed {
            let value = digest(of: bytes).base64EncodedString()
            return switch self {
            case .reprDigest: .header("Repr-Digest", "sha-256=:\(value):")
            case .digest: .header("Digest", "md5=\(value)")
            case .contentMD5: .header("Content-MD5", value)
            }
        }

        func hexadecimal(of bytes: [UInt8]) -> String {
            digest(of: bytes).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
    }

    private let bytes = Self.bytes
    private let other = Self.other

    @Test(arguments: Field.allCases)
    func `a server's digest that fits verifies the file`(field: Field) async throws {
        try await withBench(.file(bytes, [field.deed(for: bytes)])) { bench in
            let episode = bench.episode()
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.fetched])
            #expect(try await bench.recordedFile(of: episode)?.verification == .digest)
        }
    }

    @Test(arguments: Field.allCases)
    func `a server's digest that does not fit is never published, not by a later run either`(
        field: Field
    ) async throws {
        try await withBench(.file(bytes, [field.deed(for: other)])) { bench in
            let episode = bench.episode()
            for run in 1...2 {
                let report = try await bench.fetch(episode)
                #expect(report.receipts.isEmpty)
                let sentence = try #require(report.sentences.first)
                #expect(
                    sentence.contains(
                        "its \(field.algorithm.rawValue) is \(field.hexadecimal(of: bytes)), "
                            + "the server says \(field.hexadecimal(of: other))"))
                #expect(ranges(bench.server).count == 2 * run)
                #expect(try bench.file() == nil)
                #expect(try await bench.recordedFile(of: episode) == nil)
            }
        }
    }

    @Test(arguments: Field.allCases)
    func `wrong bytes under a server's digest are replaced by right ones`(field: Field) async throws {
        let other = other
        let bad = Deed.both(.change { reply, _ in reply.body = other }, field.deed(for: bytes))
        try await withBench(.file(bytes, [bad, field.deed(for: bytes)])) { bench in
            let episode = bench.episode()
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.fetched])
            #expect(ranges(bench.server) == [nil, nil])
            #expect(try bench.file() == bytes)
            #expect(try await bench.recordedFile(of: episode)?.verification == .digest)
        }
    }

    @Test(arguments: [Field.reprDigest, .digest])
    func `the digest of a resumed answer is that of the whole`(field: Field) async throws {
        try await withBench(.file(bytes, [field.deed(for: bytes)])) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            #expect(try await bench.fetch(episode).outcomes == [.resumed])
            #expect(ranges(bench.server) == ["bytes=50000-"])
            #expect(try await bench.recordedFile(of: episode)?.verification == .digest)
        }
    }

    @Test(arguments: [Field.reprDigest, .digest])
    func `held bytes that the digest of a resumed answer refutes are fetched anew`(field: Field) async throws {
        try await withBench(.file(bytes, [field.deed(for: bytes)])) { bench in
            let episode = bench.episode()
            try await bench.leave(other[..<50_000], of: episode)
            #expect(try await bench.fetch(episode).outcomes == [.fetched])
            #expect(ranges(bench.server) == ["bytes=50000-", nil])
            #expect(try bench.file() == bytes)
            #expect(try await bench.recordedFile(of: episode)?.verification == .digest)
        }
    }

    @Test func `Content-MD5 of a part is that of the part`() async throws {
        let part = Array(bytes[50_000...])
        try await withBench(.file(bytes, [Field.contentMD5.deed(for: part)])) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            #expect(try await bench.fetch(episode).outcomes == [.resumed])
            #expect(try await bench.recordedFile(of: episode)?.verification == .length)
        }
    }

    @Test func `the digest of an error is not that of the file`() async throws {
        let refusal = Deed.change { reply, _ in
            reply.setHeader("Repr-Digest", "sha-256=:\(Data(SHA256.hash(data: Data())).base64EncodedString()):")
        }
        try await withBench(.file(bytes, [refusal])) { bench in
            let episode = bench.episode(size: 120_000)
            try await bench.leave(bytes, of: episode, total: nil)
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.resumed], "\(report.sentences)")
            #expect(report.bytesReceived == 0)
        }
    }
}
