import BookModel
import Foundation
import Support
import SyncPlanner
import Testing

/// A file that bears an episode's mark may be of an earlier version than the catalog lists.
@Suite struct EarlierVersionTests {
    @Test(
        arguments: [
            (listed: 1000, declared: nil, isUnanswered: false, false), (1000, 1000, false, false),
            (1200, nil, false, false), (1200, 1000, false, false), (1200, 1200, false, true), (1200, 1300, false, true),
            (1200, nil, true, true), (1000, nil, true, false), (nil, 1200, true, false),
        ] as [(listed: Int64?, declared: Int64?, isUnanswered: Bool, Bool)])
    func `of 1000 bytes on disk the catalog and the server decide`(
        listed: Int64?, declared: Int64?, isUnanswered: Bool, expected: Bool
    ) throws {
        let book = BookIdentity(source: "s", id: "7")
        var episode = Episode.sample(1, book: book, address: "http://a/1.mp3", size: listed)
        var input = PlannerInput(
            book: Book(identity: book, title: "Book"), episodes: [], paths: [:], files: [:], partials: [:],
            rules: PlanRules(now: Date()))
        input.declaredLengths[episode.identity.key] = declared
        if isUnanswered { input.unansweredLengths = [episode.identity.key] }
        #expect(input.mayBeEarlierVersion(1000, of: episode) == expected)
        episode.digest = ContentDigest(algorithm: .sha256, hexadecimal: String(repeating: "0", count: 64))
        #expect(!input.mayBeEarlierVersion(1000, of: episode))
    }
}
