import BookModel
import NIOHTTP1
import Settings
import Transport

/// Part of the first episode of a book that was looked at, so that it can be listened to before it is added.
///
/// It is asked for a piece at a time, as a player asks for ranges, under the rules of every request to the book's source.
/// Of a server that gives no ranges only the first piece can be heard.
package struct PreviewAudio: Sendable {
    /// Bytes of a piece: half a minute and more.
    static let pieceSize: Int64 = 512 << 10

    package var bytes: ArraySlice<UInt8>
    /// The first of them.
    package var offset: Int64
    /// Bytes of the whole, as far as it can be had.
    package var total: Int64
    package var mediaType: String

    /// What can be listened to of a book.
    struct Sample: Sendable {
        let episode: Episode
        let configuration: Configuration

        /// - Returns: nil where every episode is locked.
        init?(of preview: CatalogPreview, asked configuration: Configuration) {
            guard let first = preview.episodes.filter({ !$0.isLocked }).min(by: { $0.section < $1.section }) else {
                return nil
            }
            (episode, self.configuration) = (first, configuration)
        }

        /// - Parameter range: that a player asks for; what is beyond a piece is left for the next request.
        /// - Returns: nil where there are no such bytes.
        func audio(_ range: Range<Int64>, over transport: HTTPTransport) async throws -> PreviewAudio? {
            guard let address = episode.address else { return nil }
            let last = range.lowerBound + min(Int64(range.count), PreviewAudio.pieceSize) - 1
            let request = HTTPRequest(
                .get, address,
                headers: ["Range": "bytes=\(range.lowerBound)-\(last)", "Accept-Encoding": "identity"])
            let answer = try await transport.using(configuration.access(of: episode.identity.book)).send(request)
            let mediaType = AudioExtension.mediaType(ofPath: "." + AudioExtension.of(episode))
            switch answer.status {
            case 206:
                guard case .bytes(range.lowerBound, _, let total?)? = answer.contentRange else {
                    throw refusal("its answer is another part than was asked for")
                }
                let bytes = try await answer.beginning(Int(last - range.lowerBound) + 1)
                guard !bytes.isEmpty else { return nil }
                return PreviewAudio(bytes: bytes[...], offset: range.lowerBound, total: total, mediaType: mediaType)
            case 200:
                let bytes = try await answer.beginning(Int(PreviewAudio.pieceSize))
                guard range.lowerBound < bytes.count else { return nil }
                return PreviewAudio(
                    bytes: bytes[Int(range.lowerBound)...Int(min(last, Int64(bytes.count) - 1))],
                    offset: range.lowerBound, total: Int64(bytes.count), mediaType: mediaType)
            case 416: return nil
            default: throw refusal("it answers with HTTP status \(answer.status)")
            }
        }

        func refusal(_ why: Message) -> Failure {
            Failure(
                .catalogUnavailable, what: "the audio of \(episode.identity.book) cannot be had", why: why,
                remedy: "download it: a run says more")
        }
    }
}
