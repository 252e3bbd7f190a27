import BookModel
import Foundation
import Testing

@Suite struct EpisodeRecordTests {
    private static func episode(
        locked: Bool = false, gone: Bool = false, removed: Bool = false, file: Bool = false,
        transfer: TransferState? = nil
    ) -> EpisodeRecord {
        let identity = EpisodeIdentity(book: BookIdentity(source: "kting", id: "1"), key: "k")
        return EpisodeRecord(
            episode: Episode(
                identity: identity, section: 1, name: "n", address: locked ? nil : ResourceAddress("http://a/")),
            isGone: gone, removedAt: removed ? Date(timeIntervalSince1970: 0) : nil,
            file: !file
                ? nil
                : LocalFile(
                    episode: identity, path: "p", size: 1, sha256: "", modificationTime: 0, inode: 0,
                    fetchedAt: Date(timeIntervalSince1970: 0), verification: .length),
            transfer: transfer.map { TransferRecord(episode: identity, state: $0) })
    }

    @Test(
        arguments: [
            (episode(), .waiting),
            (episode(locked: true), .locked),
            (episode(gone: true), .gone),
            (episode(gone: true, file: true), .gone),
            (episode(file: true), .finished),
            (episode(locked: true, file: true), .finished),
            (episode(removed: true), .removed),
            (episode(removed: true, file: true, transfer: .downloading), .removed),
            (episode(transfer: .waiting), .waiting),
            (episode(transfer: .downloading), .downloading),
            (episode(transfer: .paused), .paused),
            (episode(transfer: .failed), .failed),
            (episode(transfer: .cancelled), .cancelled),
            (episode(file: true, transfer: .waiting), .finished),
            (episode(file: true, transfer: .downloading), .downloading),
            // A transfer that only waits, or is over, says nothing that the rest does not say better.
            (episode(locked: true, transfer: .waiting), .locked),
            // Whatever became of their transfers, none can be begun; the counts of a book leave what is gone out, too.
            (episode(gone: true, transfer: .failed), .gone),
            (episode(gone: true, file: true, transfer: .failed), .failed),
            (episode(locked: true, transfer: .cancelled), .locked),
            (episode(locked: true, transfer: .downloading), .downloading),
            (episode(locked: true, file: true, transfer: .paused), .paused),
            (episode(gone: true, transfer: .waiting), .gone),
            (episode(gone: true, file: true, transfer: .finished), .gone),
            (episode(transfer: .finished), .waiting),
        ] as [(EpisodeRecord, EpisodeState)])
    func `an episode's state tells what matters most of it`(episode: EpisodeRecord, state: EpisodeState) {
        #expect(episode.state == state)
    }
}
