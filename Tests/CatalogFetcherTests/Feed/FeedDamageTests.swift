import BookModel
import Foundation
import Support
import Testing

@testable import CatalogFetcher

/// Feeds that are cut, damaged or made to do harm. Nothing may crash, hang, or take much memory or time.
@Suite struct FeedDamageTests {
    /// Variants of each file.
    private static let variants = Tier.choose(quick: 5, full: 20, long: 200)

    private static let files = ["rss", "rss-hostile"].flatMap { folder in
        Corpus.names(in: folder).map { "\(folder)/\($0)" }
    }.filter { $0.hasSuffix(".xml") || $0.hasSuffix(".rss") }

    @Test func `every hostile file is read or refused in a sentence`() async throws {
        try await withTaskExecutorPreference(OwnThread()) {
            for file in Self.files {
                do {
                    let read = try readFeed(try Corpus.bytes(file))
                    #expect(read.episodes.allSatisfy { !$0.name.isEmpty && !$0.identity.key.isEmpty }, "\(file)")
                    #expect(Set(read.episodes.map(\.identity)).count == read.episodes.count, "\(file)")
                } catch let failure as Failure {
                    #expect(failure.kind == .unreadableCatalog, "\(file)")
                }
            }
        }
    }

    @Test func `a file that is cut anywhere is read as far as it goes`() async throws {
        try await withTaskExecutorPreference(OwnThread()) {
            var generator = SeededGenerator(seed: 4)
            for file in Self.files {
                let bytes = try Corpus.bytes(file)
                guard !bytes.isEmpty else { continue }
                for _ in 0..<variants(of: bytes) {
                    _ = FeedReader.read(Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &generator))))
                }
            }
        }
    }

    @Test func `a file with bytes that were changed is read or refused`() async throws {
        try await withTaskExecutorPreference(OwnThread()) {
            var generator = SeededGenerator(seed: 5)
            for file in Self.files {
                let bytes = try Corpus.bytes(file)
                guard !bytes.isEmpty else { continue }
                for _ in 0..<variants(of: bytes) {
                    var damaged = bytes
                    for _ in 0..<Int.random(in: 1...8, using: &generator) {
                        damaged[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
                            in: 0...255, using: &generator)
                    }
                    guard case .feed(let document) = FeedReader.read(damaged) else { continue }
                    var listing = FeedListing()
                    _ = listing.add(document)
                    _ = listing.contents(as: feedBook)
                }
            }
        }
    }

    /// The large ones take their time in a build for testing.
    private func variants(of bytes: [UInt8]) -> Int {
        bytes.count > 20_000 ? max(Self.variants / 10, 2) : Self.variants
    }

    @Test func `how the bytes are cut into pieces changes nothing`() async throws {
        try await withTaskExecutorPreference(OwnThread()) {
            var generator = SeededGenerator(seed: 6)
            for file in Self.files {
                let bytes = try Corpus.bytes(file)
                let reader = FeedReader()
                var start = 0
                while start < bytes.count {
                    let end = min(
                        start + Int.random(in: 1...(bytes.count > 20_000 ? 5000 : 40), using: &generator), bytes.count)
                    Array(bytes[start..<end]).withUnsafeBufferPointer(reader.consume)
                    start = end
                }
                switch (reader.finish(), FeedReader.read(bytes)) {
                case (.feed(let pieces), .feed(let whole)):
                    #expect(pieces.title == whole.title, "\(file)")
                    #expect(pieces.items.map(\.title) == whole.items.map(\.title), "\(file)")
                    #expect(pieces.items.map(\.media.address) == whole.items.map(\.media.address), "\(file)")
                    #expect(pieces.isWhole == whole.isWhole, "\(file)")
                case (.foreign(let pieces, _), .foreign(let whole, _)): #expect(pieces == whole, "\(file)")
                default: Issue.record("\(file) is read in one way whole and in another in pieces")
                }
            }
        }
    }
}
