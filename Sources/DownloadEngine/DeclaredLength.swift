import BookModel
import Transport

extension HTTPTransport {
    /// How long an episode's audio is by its server's word, without a byte of it.
    /// - Returns: nil when the server does not say, or cannot be asked.
    package func declaredLength(of episode: Episode) async -> Int64? {
        guard let address = episode.address, !address.isMasked else { return nil }
        do {
            let answer = try await send(WireRequest(.head, address))
            guard answer.status == 200, answer.first("Content-Encoding") == nil else { return nil }
            return FileSize.sensible(answer.first("Content-Length").flatMap { Int64($0) })
        } catch {
            // Nobody needs to know it: what stands there is left alone then.
            return nil
        }
    }
}
