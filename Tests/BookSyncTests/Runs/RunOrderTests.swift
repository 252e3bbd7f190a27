import BookModel
import DownloadEngine
import Testing

@testable import BookSync

@Suite struct RunOrderTests {
    private func request(_ book: String, _ section: Int, failures: Int? = nil) -> TransferRequest {
        let identity = EpisodeIdentity(book: BookIdentity(source: "s", id: book), key: "\(section)")
        var request = TransferRequest(
            episode: Episode(identity: identity, section: section, name: ""), path: "\(book)/\(section)")
        request.record = failures.map { TransferRecord(episode: identity, state: .failed, attempts: $0) }
        return request
    }

    private func paths(_ books: [[TransferRequest]]) -> [String] {
        let ranked = books.flatMap { RunOrder.newsFirst.ranked($0) }
        return ranked.indices.sorted { (ranked[$0].rank, $0) < (ranked[$1].rank, $1) }.map { ranked[$0].path }
    }

    @Test func `books that lack few episodes come first, in the order of the request where they lack as many`() {
        let backlog = (1...4).map { request("new", $0) }
        let order = paths([backlog, [request("b", 9)], [], [request("c", 8), request("c", 7)], [request("d", 1)]])
        #expect(order == ["b/9", "d/1", "c/8", "c/7", "new/1", "new/2", "new/3", "new/4"])
    }

    @Test func `what failed before comes last, the more often the later`() {
        let order = paths([
            [request("a", 1, failures: 3), request("a", 2), request("a", 3, failures: 0)],
            [request("b", 1, failures: 1)],
            [request("c", 1, failures: 3), request("c", 2)],
        ])
        #expect(order == ["c/2", "a/2", "a/3", "b/1", "a/1", "c/1"])
    }
}
