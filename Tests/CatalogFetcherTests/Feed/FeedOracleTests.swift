import BookModel
import Foundation
import Support
import Testing

@testable import CatalogFetcher

/// What feedparser and podcastparser read from recorded feeds, held against what is read here.
@Suite struct FeedOracleTests {
    /// Where both peers agree, and why it is read otherwise here. The key is the file and the field.
    private static let otherwise: [String: String] = [
        "rss/podcastparser/image_and_audio.rss http://example.org/coverart.jpg url": "the first audio file is taken",
        "rss-hostile/synthetic/multiple_enclosures.xml http://example.com/a.jpg url": "the first audio file is taken",
        "rss-hostile/synthetic/enclosure_urls_odd.xml ftp://example.com/x.mp3 url": "only http and https are fetched",
        "rss-hostile/synthetic/enclosure_urls_odd.xml file:///etc/passwd url": "only http and https are fetched",
        "rss-hostile/synthetic/enclosure_urls_odd.xml http://example.com:99999/x.mp3 url": "there is no such port",
        "max_episodes count": "its test allows for one episode only",
        "no_title_multi_enclosure count": "an item without a title is named after its file",
    ]

    private func elements(of value: JSONValue?) -> [JSONValue] { value.map { Array($0.elements) } ?? [] }

    @Test func `where feedparser and podcastparser agree, the same is read`() throws {
        var records: [String: JSONValue] = [:]
        for table in try Corpus.tables("rss/oracle.json") {
            let oracle = try JSONReader.read(Array(table))
            for (file, record) in try #require(oracle["files"]).members where records[file] == nil {
                records[file] = record["consensus"]
            }
        }
        records = records.filter { $0.value.kind == .object }
        #expect(records.count == Corpus.count(ofChosen: 122, ofWhole: 195))
        var fields = 0
        var differences: [String] = []
        func compare<Value: Equatable>(_ name: String, _ ours: Value?, _ theirs: Value?) {
            fields += 1
            if ours != theirs, Self.otherwise[name] == nil {
                differences.append("\(name): \(String(describing: ours)), they \(String(describing: theirs))")
            }
        }
        for (file, consensus) in records {
            let read: CatalogContents
            do {
                read = try readFeed(try Corpus.bytes(file))
            } catch {
                compare("\(file) readable", false, true)
                continue
            }
            if let title = consensus["title"]?.string {
                compare("\(file) title", read.listing.description.title, title)
            }
            let items = elements(of: consensus["items"])
            for item in items {
                let address = item["enclosure_url"]?.string
                let name = "\(file) \(address ?? "")"
                let episode = read.episodes.first { $0.address?.secretText == address }
                compare("\(name) url", episode?.address?.secretText, address)
                guard let episode else { continue }
                // A field that is missing is one where they disagree.
                if let length = item["enclosure_length"] { compare("\(name) length", episode.size, length.integer) }
                if let type = item["enclosure_type"] { compare("\(name) type", episode.mediaType, type.string) }
                if let date = item["published"] {
                    compare("\(name) published", episode.publishedAt?.timeIntervalSince1970, date.double)
                }
                if let duration = item["duration"] { compare("\(name) duration", episode.duration, duration.double) }
                if let number = item["episode"] {
                    compare("\(name) episode", episode.number.map(Int64.init), number.integer)
                }
            }
            let others = ["only_feedparser", "only_podcastparser"].flatMap { elements(of: consensus[$0]) }
            if others.isEmpty { compare("\(file) count", read.episodes.count, items.count) }
        }
        #expect(fields == Corpus.count(ofChosen: 652, ofWhole: 841))
        #expect(differences.isEmpty, "\(differences.count) of \(fields):\n\(differences.joined(separator: "\n"))")
    }

    @Test func `podcastparser's own cases are read as it expects`() throws {
        var fields = 0
        var differences: [String] = []
        func compare<Value: Equatable>(_ name: String, _ ours: Value?, _ theirs: Value?) {
            fields += 1
            if ours != theirs, Self.otherwise[name] == nil {
                differences.append("\(name): \(String(describing: ours)), they \(String(describing: theirs))")
            }
        }
        let names = Corpus.names(in: "rss/podcastparser").filter { $0.hasSuffix(".rss") }
        #expect(names.count == Corpus.count(ofChosen: 36, ofWhole: 70))
        for name in names.map({ String($0.dropLast(4)) }) {
            let expected = try JSONReader.read(try Corpus.bytes("rss/podcastparser/\(name).expected.json"))
            // Its addresses are relative to where its own tests lie.
            let base = "http://tests/data/\(name).rss"
            let read = try readFeed(
                try Corpus.bytes("rss/podcastparser/\(name).rss"), address: ResourceAddress(base))
            func theirs(_ value: JSONValue?) -> String? {
                value?.string.map { $0.replacing("file://tests/", with: "http://tests/") }
            }
            // Without a title it takes the file's name.
            let title = expected["title"]?.string
            compare("\(name) title", read.listing.description.title ?? name, title)
            if let cover = theirs(expected["cover_url"]) {
                compare("\(name) cover", read.listing.description.cover?.secretText, cover)
            }
            let episodes = elements(of: expected["episodes"]).filter { !elements(of: $0["enclosures"]).isEmpty }
            compare("\(name) count", read.episodes.count, episodes.count)
            for episode in episodes {
                let enclosures = elements(of: episode["enclosures"])
                // It puts episodes in an order of its own.
                guard
                    let ours = read.episodes.first(where: { ours in
                        enclosures.contains { theirs($0["url"]) == ours.address?.secretText }
                    }), let enclosure = enclosures.first(where: { theirs($0["url"]) == ours.address?.secretText })
                else {
                    differences.append("\(name): none of its enclosures is listed")
                    continue
                }
                compare("\(name) name", ours.name, episode["title"]?.string)
                compare("\(name) length", ours.size ?? -1, enclosure["file_size"]?.integer)
                compare("\(name) type", ours.mediaType ?? "application/octet-stream", enclosure["mime_type"]?.string)
                compare(
                    "\(name) published", ours.publishedAt?.timeIntervalSince1970 ?? 0, episode["published"]?.double ?? 0
                )
                compare("\(name) duration", ours.duration ?? 0, episode["total_time"]?.double ?? 0)
                compare("\(name) number", ours.number.map(Int64.init), episode["number"]?.integer)
                compare("\(name) season", ours.season.map(Int64.init), episode["season"]?.integer)
            }
        }
        #expect(fields == Corpus.count(ofChosen: 221, ofWhole: 402))
        #expect(differences.isEmpty, "\(differences.count) of \(fields):\n\(differences.joined(separator: "\n"))")
    }
}
