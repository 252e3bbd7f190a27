import BookModel
import Foundation
import Support
import Testing

@testable import AudioFiles

@Suite(.limitedConcurrency) struct JoinMeterTests {
    @Test func `the progress of a join never goes back`() async throws {
        try await withTemporaryPath { folder in
            let file = LocalFile(
                episode: EpisodeIdentity(book: BookIdentity(source: "kting", id: "1"), key: "7"), path: "Book/7.mp3",
                size: 1000, sha256: "", modificationTime: 50, inode: 7, fetchedAt: .distantPast, verification: .length)
            let told = Watched<[RunProgress]>([])
            let meter = JoinMeter([file, file, file]) { state in told.update { $0.append(state.run) } }
            try await meter.telling {
                meter.finish([file])
                for number in 1...2 {
                    let path = "\(folder)/\(number)"
                    // One of them becomes smaller than was thought, the other larger.
                    try await meter.writing(path, named: "joined", of: [file], size: 1500) {
                        try Data(count: number * 1000).write(to: URL(filePath: path))
                        try await told.waitUntil { $0.last?.bytes.bytesDone ?? 0 > number * 1000 }
                    }
                }
            }
            let bytes = told.value.map(\.bytes.bytesDone)
            #expect(bytes == bytes.sorted() && bytes.last == 3000, "\(bytes)")
            #expect(told.value.last?.episodesDone == 3 && told.value.last?.episodesInAll == 3)
        }
    }
}
