import BookModel
import Support
import Testing

@testable import CatalogFetcher

@Suite(.limitedConcurrency) struct HostileAnswerTests {
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
