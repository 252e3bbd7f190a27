import BookModel
import Transport

extension HTTPTransport {
    /// How long an episode's audio is by its server's word, without a byte of it.
    /// - Returns: nil when the server does not say.
    /// - Throws: when the server cannot be asked, or cannot answer now.
    package func declaredLength(of episode: Episode) async throws -> Int64? {
        guard let address = episode.address, !address.isMasked else { return nil }
        var request = HTTPRequest(.head, address)
        request.isForDocument = false
        let answer = try await send(request)
        guard answer.status == 200, ResponseHead(answer).coding == .identity else {
            if answer.status >= 500 || [404, 408, 410, 429].contains(answer.status) { throw ServerUnavailable() }
            return nil
        }
        return FileSize.sensible(answer.first("Content-Length").flatMap { Int64($0) })
    }
}

/// The server cannot answer now. One that refuses the method, or its use, is not unavailable (RFC 9110 §15.5.6).
private struct ServerUnavailable: Error {}
