import Testing

@testable import BookModel

@Suite struct ObservedSpeedsTests {
    private let start = ContinuousClock.now
    private let book = BookIdentity(source: "s", id: "1")

    @Test func `two looks tell how fast a transfer is, and one that is gone begins anew`() {
        let (one, other) = (EpisodeIdentity(book: book, key: "1"), EpisodeIdentity(book: book, key: "2"))
        var speeds = ObservedSpeeds()
        speeds.record([one: 1000, other: 5000], at: start)
        #expect(speeds.bytesPerSecond(of: one, at: start) == nil)
        speeds.record([one: 3000], at: start + .seconds(1))
        #expect(speeds.bytesPerSecond(of: one, at: start + .seconds(1)) == 2000)
        speeds.record([one: 5000, other: 9000], at: start + .seconds(2))
        #expect(speeds.bytesPerSecond(of: one, at: start + .seconds(2)) == 2000)
        #expect(speeds.bytesPerSecond(of: other, at: start + .seconds(2)) == nil)
    }
}
