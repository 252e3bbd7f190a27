import BookModel
import Support
import Testing

@testable import CatalogFetcher

@Suite(.full, .limitedConcurrency) struct HostileAnswerTests {
    @Test func `200 MB of JSON are read when they are a listing`() async throws {
        let filler = Array(repeating: UInt8(ascii: "x"), count: 200_000_000)
        let body =
            Array(#"{"status":0,"sections":2,"filler":""#.utf8) + filler
            + Array(#"","list":[{"id":9007199254740993},{"id":"9223372036854775807"}]}"#.utf8)
        try await ScriptedServer.run { _, _ in
            ScriptedAnswer(body: body)
        } _: { _, address in
            let book = try await withTaskExecutorPreference(OwnThread()) {
                try await listBook(settings: BookResourceSettings(address))
            }
            #expect(book.episodes.map(\.identity.key) == ["9007199254740993", "9223372036854775807"])
            #expect(book.listing.proof.isComplete)
        }
    }

    @Test func `elements in very great number are cut off at the ceiling`() async throws {
        let body =
            Array(#"{"list":["#.utf8) + Array((1...20_000).map { #"{"id":\#($0)}"# }.joined(separator: ",").utf8)
            + Array("]}".utf8)
        try await ScriptedServer.run { _, _ in
            ScriptedAnswer(body: body)
        } _: { _, address in
            let book = try await listBook(
                settings: BookResourceSettings(address), ceiling: .init(pages: 10, episodes: 5000))
            #expect(book.listing.proof.collected == 5000)
            #expect(book.pages.map(\.episodes.count) == [1000, 1000, 1000, 1000, 1000])
            #expect(!book.listing.proof.isComplete)
        }
    }

    @Test func `nesting within an element is masked in one walk`() async throws {
        let depth = 400
        let nested =
            String(repeating: #"{"a":["#, count: depth / 2) + #""http://u:p@h/?t=s""#
            + String(repeating: "]}", count: depth / 2)
        let json = #"{"list":[{"id":1,"x":\#(nested)}],"sections":1}"#
        try await ScriptedServer.run { _, _ in
            ScriptedAnswer(json)
        } _: { _, address in
            let book = try await listBook(settings: BookResourceSettings(address))
            #expect(book.episodes.map(\.identity.key) == ["1"])
        }
    }
}
