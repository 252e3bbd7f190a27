import Foundation
import Support
import Testing

@testable import BookSyncWeb

@Suite struct DemoAudioTests {
    private let episodes = DemoBook.all.flatMap { book in
        (1...book.sections).filter { !book.isLocked($0) }.map { DemoAudio(book: book, section: $0) }
    }

    @Test func `every episode is a tag and whole frames, of the length that the catalog tells`() throws {
        #expect(episodes.count == 116)
        for episode in episodes {
            let bytes = episode.bytes
            #expect(bytes.count == episode.length)
            #expect((150_000...400_000).contains(bytes.count))
            #expect(bytes.starts(with: Array("ID3".utf8) + [4, 0, 0]))
            let tagLength = bytes[6..<10].reduce(0) { $0 << 7 | Int($1) } + 10
            let frames = bytes.dropFirst(tagLength)
            #expect(frames.count % DemoClip.bytesPerFrame == 0)
            // The first frame tells of the others and is not played.
            #expect(frames.dropFirst(13).starts(with: Array("Info".utf8)))
            #expect(Double((frames.count / DemoClip.bytesPerFrame - 1) * 576) / 24000 == episode.duration)
            let broken = stride(from: frames.startIndex, to: frames.endIndex, by: DemoClip.bytesPerFrame).filter {
                // The header, and a main_data_begin of 0: the frame needs none before it.
                !frames[$0...].starts(with: [0xFF, 0xF3, 0x44, 0xC4, 0])
            }
            #expect(broken.isEmpty)
        }
    }

    @Test func `no two episodes are the same, and all are what they were`() {
        let digests = episodes.map { sha256($0.bytes) }
        #expect(Set(digests).count == 116)
        // Changes only when the audio is changed on purpose: people's shelves hold these bytes.
        #expect(
            sha256(Array(digests.joined().utf8)) == "f076714d9bd447b2d3766ef624b30c066a8343ab39b792e0c51ac1b1b35a3447")
    }
}
