import Foundation
import Testing

@testable import BookModel

@Suite struct FileBoardTests {
    private let file = LocalFile(
        episode: EpisodeIdentity(book: BookIdentity(source: "kting", id: "1"), key: "7"), path: "Book/7.mp3",
        size: 1000, sha256: "", modificationTime: 50, inode: 7, fetchedAt: .distantPast, verification: .length)

    @Test func `what is watched counts files, bad ones and bytes`() {
        var board = FileBoard([file, file, file])
        board.finish([file])
        board.finish([file], areGood: false)
        let third = ProgressState.Transfer(name: "third", bytes: ByteProgress(bytesDone: 500, total: 1000))
        let state = board.state(running: [third], at: .now)
        #expect(state.run.episodesDone == 2 && state.run.episodesFailed == 1 && state.run.episodesInAll == 3)
        #expect(state.run.bytes.bytesDone == 2500 && state.run.bytes.total == 3000)
        #expect(state.transfers.map(\.name) == ["third"])
        #expect(state.failures?.description.hasSuffix(" bad") == true)
    }
}
