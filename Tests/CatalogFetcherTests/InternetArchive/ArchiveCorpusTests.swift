import BookModel
import Foundation
import Support
import Testing

@testable import CatalogFetcher

private struct ExpectedItem: Decodable, Sendable {
    struct File: Decodable, Sendable {
        var name: String
        var format: String
        var source: String
        var original: String?
        var size: Int64?
        var md5: String?
        var sha1: String?
        var lengthSeconds: Double?
        var track: Int?
        var title: String?
    }

    var filesTotal: Int
    var audioTotal: Int
    var byFormat: [String: Int]
    var audioOriginals: Int
    var audio: [File]
}

@Suite struct ArchiveCorpusTests {
    private let subject = ErrorContext(book: BookIdentity(source: "archive", id: "x"), part: "the metadata")

    @Test func `every recorded item is read as it is`() throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let expected = try decoder.decode(
            [String: ExpectedItem].self, from: Data(try Corpus.bytes("json-ia/expected.json")))
        #expect(expected.count == 3)
        for (name, truth) in expected {
            let document = try JSONReader.read(try Corpus.bytes("json-ia/\(name)"))
            let item = try ArchiveItem(document, for: subject)
            #expect(item.files.count == truth.filesTotal && item.unreadable == 0)
            let audio = item.files.filter(\.role.isAudio).sorted {
                $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
            }
            let files = truth.audio.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            #expect(audio.count == truth.audioTotal)
            #expect(Dictionary(audio.map { ($0.format, 1) }, uniquingKeysWith: +) == truth.byFormat)
            #expect(audio.map(\.name) == files.map(\.name))
            for (file, truth) in zip(audio, files) {
                #expect(file.format == truth.format)
                #expect(file.isDerivative == (truth.source == "derivative"))
                #expect(file.originals.first == truth.original)
                #expect(file.size == truth.size)
                #expect(file.md5 == truth.md5 && file.sha1 == truth.sha1)
                #expect(file.length == truth.lengthSeconds, "\(file.name)")
                #expect(file.track == truth.track, "\(file.name)")
                #expect(file.title == truth.title)
            }
            #expect(ArchiveRecordings.of(item.files).count == truth.audioOriginals)
        }
    }

    private func book(_ name: String, formats: [String] = []) throws -> CatalogContents {
        let answer = CatalogResponse(bytes: try Corpus.bytes("json-ia/\(name)"))
        return try InternetArchiveSettings(formats: formats).read(answer, source: "archive", id: nil)
    }

    @Test func `one file of each recording is taken, the whole book in one file beside them is not`() throws {
        let kind = try book("metadata_m4b_550.json")
        #expect(kind.identity.id == "war_is_kind_librivox")
        #expect(kind.book.title == "War Is Kind" && kind.book.author == "Stephen Crane")
        #expect(kind.book.narrator == "ChipDoc")
        #expect(kind.book.summary?.hasPrefix("Librivox recording of War is Kind by Stephen Crane.\n") == true)
        #expect(kind.book.cover?.secretText.hasSuffix("/download/war_is_kind_librivox/War_Is_Kind_1104.jpg") == true)
        let episode = try #require(kind.episodes.first)
        #expect(kind.episodes.count == 1 && kind.book.isComplete)
        #expect(
            episode.address?.secretText
                == "https://archive.org/download/war_is_kind_librivox/war_is_kind_crane.mp3")
        #expect(episode.size == 27_941_790 && episode.duration == 1746.36 && episode.mediaType == "audio/mpeg")
        #expect(
            episode.digest == ContentDigest(algorithm: .sha1, hexadecimal: "0f2384c2b052aee65bb8cec7d78fae1fae150518"))
        #expect(episode.identity.key == "war_is_kind_crane")

        let m4b = try book("metadata_m4b_550.json", formats: ["LibriVox Apple Audiobook", "64Kbps MP3"])
        #expect(m4b.episodes.map(\.mediaType) == ["audio/mp4"])
    }

    @Test func `formats are taken in the order configured, under one identity`() throws {
        let all = try book("metadata_dup-track_9670.json")
        #expect(
            all.episodes.map(\.identity.key) == [1, 2, 3, 4, 5, 6, 9].map { "galaxyprimes_0\($0)_smith" })
        #expect(all.episodes.map(\.section) == Array(1...7))
        #expect(all.episodes.map(\.number) == [nil, 2, 3, nil, 5, 6, 9])
        let names = all.episodes.compactMap { $0.address?.pathText.split(separator: "/").last }
        #expect(names[0] == "galaxyprimes_01_smith_128kb.mp3" && names[1] == "galaxyprimes_02_smith.mp3")
        #expect(all.episodes[5].size == nil)

        let small = try book("metadata_dup-track_9670.json", formats: ["64kbps mp3", "128Kbps MP3"])
        #expect(small.episodes.map(\.identity.key) == all.episodes.map(\.identity.key))
        #expect(small.episodes[1].address?.pathText.hasSuffix("galaxyprimes_02_smith_64kb.mp3") == true)
        #expect(small.episodes[0].address?.pathText.hasSuffix("galaxyprimes_01_smith_128kb.mp3") == true)

        let ogg = try book("metadata_dup-track_9670.json", formats: ["Ogg Vorbis"])
        #expect(ogg.episodes.count == 3)
        #expect(
            ogg.listing.proof.warnings.map(\.description).contains {
                $0.hasPrefix("4 recordings have none of the configured formats")
            })
    }

    @Test func `a dark item is told of`() throws {
        let failure = #expect(throws: Failure.self) { try book("dark_item.json") }
        #expect(failure?.kind == .unknownBook && failure?.why.description.contains("dark") == true)
    }
}
