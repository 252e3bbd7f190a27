import BookModel
import Foundation
import Testing

@Suite struct TransferRecordTests {
    @Test(
        arguments: [
            (nil, false), (-1, false), (0, false), (1, true), (604_800, true), (604_801, false), (3e9, false),
        ] as [(Double?, Bool)])
    func `case 43: a next try further off than any wait is over`(seconds: Double?, waits: Bool) {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let record = TransferRecord(
            episode: EpisodeIdentity(book: BookIdentity(source: "s", id: "1"), key: "1"), state: .failed,
            nextTryAt: seconds.map { now + $0 })
        #expect(record.waits(at: now) == waits)
    }
}
