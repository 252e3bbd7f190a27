import BookModel
import Foundation
import Support
import Testing

@testable import CatalogFetcher

/// The recorded answers, each served as the first page of a book whose further pages are empty.
@Suite(.limitedConcurrency) struct BookResourceCorpusTests {
    private func list(_ name: String) async throws -> ListedBook {
        let bytes = try Corpus.bytes("json-lrts/\(name)")
        return try await ScriptedServer.run { request, _ in
            request.page == 1 ? ScriptedAnswer(body: bytes) : ScriptedAnswer(#"{"status":0,"list":[]}"#)
        } _: { _, address in
            try await listBook(settings: BookResourceSettings(address))
        }
    }

    @Test func `a recorded page of a longer book is listed as incomplete`() async throws {
        let book = try await list("real_425_free_2items.json")
        #expect(book.listing.proof.declared == 400)
        #expect(!book.listing.proof.isComplete)
        let first = try #require(book.episodes.first)
        #expect(first.identity.key == "769021955")
        #expect(first.name == "第001集_白眉大侠")
        #expect(
            first.address?.secretText
                == "http://mting.info/asdb/storytelling/shantianfang/baimeidaxia/9rkkobad.mp3")
        #expect(first.duration == 1386)
        #expect(first.modifiedAt == Date(timeIntervalSince1970: 1_414_531_859))
        #expect(book.episodes.map(\.size) == [5_531_722, 5_559_935])
        #expect(book.episodes.map(\.duration) == [1386, 1393])
        #expect(book.listing.inferredTitle == "白眉大侠")
    }

    @Test func `a recorded element becomes an episode`() async throws {
        let book = try await list("real_item_30776_TTBookModel.json")
        #expect(book.listing.proof == ListingProof(declared: 1, collected: 1, isComplete: true))
        let episode = try #require(book.episodes.first)
        #expect(episode.identity.key == "301500958")
        #expect(episode.duration == 1239)
        #expect(episode.size == 9_913_859)
        #expect(episode.modifiedAt == nil)
        #expect(
            episode.address?.secretText == "http://kting.info:81/asdb/fiction/chuanyue/hdgddsy/r4jigc2a.mp3")
        #expect(book.listing.inferredTitle == "回到古代当兽医")
    }

    @Test(arguments: [
        ("synthetic_modern_free.json", 50, 50), ("synthetic_modern_paid_path_empty.json", 3, 2),
        ("synthetic_state_minus2_hidden.json", 2, 1), ("synthetic_status_string.json", 1, 1),
        ("synthetic_dup_and_gap_sections.json", 4, 4), ("synthetic_crossdomain_path.json", 4, 4),
        ("synthetic_web_book_ajax.json", 2, 0), ("synthetic_entity_path.json", 1, 1),
        ("hostile_negative_and_huge.json", 3, 3),
    ])
    func `listed and downloadable episodes are those of the manifest`(
        name: String, listed: Int, downloadable: Int
    ) async throws {
        let book = try await list(name)
        #expect(book.episodes.count == listed)
        #expect(book.episodes.filter { !$0.isLocked }.count == downloadable)
        #expect(Set(book.episodes.map(\.identity)).count == listed)
    }

    @Test func `which episodes are locked`() async throws {
        let paid = try await list("synthetic_modern_paid_path_empty.json")
        #expect(paid.episodes.map(\.isLocked) == [false, true, false])
        let hidden = try await list("synthetic_state_minus2_hidden.json")
        #expect(hidden.episodes.map(\.isLocked) == [true, false])
    }

    @Test func `sections are kept as they are, the keys are the ids`() async throws {
        let book = try await list("synthetic_dup_and_gap_sections.json")
        #expect(book.episodes.map(\.section) == [1, 1, 3, 0])
        #expect(book.episodes.map(\.identity.key) == ["5000000001", "5000000099", "5000000003", "5000000000"])
    }

    @Test func `odd paths are resolved`() async throws {
        let book = try await list("synthetic_crossdomain_path.json")
        let addresses = book.episodes.compactMap(\.address?.secretText)
        #expect(addresses[0] == "http://mting.example.invalid/a.mp3")
        #expect(addresses[1].hasSuffix("/yyting/bookclient/asdb/x/2.mp3"))
        #expect(addresses[2...] == ["http://example.invalid/第3集.mp3", "http://example.invalid:81/a b.m4a?sign=x%2By"])
    }

    @Test func `absurd numbers are none, strings and floats are numbers`() async throws {
        let book = try await list("hostile_negative_and_huge.json")
        #expect(book.episodes.map(\.size) == [nil, nil, 15_000_000])
        #expect(book.episodes.map(\.duration) == [nil, nil, 1200])
    }

    @Test func `the web's shape names its episodes`() async throws {
        let book = try await list("synthetic_web_book_ajax.json")
        #expect(book.episodes.map(\.name) == ["第1集", "第2集·上"])
        #expect(book.episodes.map(\.identity.key) == ["111", "112"])
    }

    @Test(
        arguments: [
            ("synthetic_status_114_rate_limit.json", .catalogUnavailable, "status 114"),
            ("synthetic_status_4_illegal.json", .catalogUnavailable, "非法请求"),
            ("hostile_truncated.json", .unreadableCatalog, " at byte "),
            ("hostile_html_login.html", .unreadableCatalog, "HTML"),
            ("hostile_gbk_bytes.json", .unreadableCatalog, "expected UTF-8 text at byte "),
        ] as [(String, Failure.Kind, String)])
    func `what is no listing is told in a sentence`(name: String, kind: Failure.Kind, words: String) async throws {
        let failure = await #expect(throws: Failure.self) { try await list(name) }
        #expect(failure?.kind == kind)
        #expect(failure?.why.description.contains(words) == true)
    }

    @Test func `every file of the corpus is expected here`() {
        let names = Corpus.names(in: "json-lrts").filter { !$0.hasSuffix(".tsv") }
        #expect(names.count == 16)
    }

    /// Files cut anywhere and files with bytes changed anywhere end in records or in a ``JSONFailure``.
    @Test(arguments: 0..<8 as Range<UInt64>)
    func `damaged answers never crash`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for name in Corpus.names(in: "json-lrts") where name.hasSuffix("json") {
            let whole = try Corpus.bytes("json-lrts/\(name)")
            for _ in 0..<12 {
                var bytes = whole
                if Bool.random(using: &random) {
                    bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
                }
                for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
                    let position = Int.random(in: bytes.indices, using: &random)
                    bytes[position] =
                        Bool.random(using: &random)
                        ? UInt8.random(in: 0...255, using: &random)
                        : Array("{}[]\",:\\u0-9e.".utf8).randomElement(using: &random) ?? 0
                }
                guard case .success(let value) = Result(catching: { try JSONReader.read(bytes) }) else { continue }
                walk(value)
                guard case .list(let elements) = BookResourceAnswer(value).elements else { continue }
                for element in elements.compactMap({ BookResourceElement($0) }) {
                    let identity = EpisodeIdentity(book: testBook, key: element.key ?? "")
                    _ = element.episode(identity: identity, position: 1, catalog: ResourceAddress("http://a.example/"))
                }
            }
        }
    }
}
