import BookModel
import Dispatch
import Settings

/// Compares passwords with hashes, one at a time and on a thread of its own: each takes a tenth of a second and 32 MiB,
/// and whoever listens meanwhile shall not notice.
final class PasswordCheck: Sendable {
    private let queue = DispatchQueue(label: "booksync.passwords")
    /// Of the passwords that wait.
    private let places = Slots(count: 32)
    /// Of no password that anybody knows.
    private static let nobodys = PasswordHash(salt: ServeKeys.random(16), hash: ServeKeys.random(32))

    /// - Parameter hash: nil for one that nothing matches, which takes as long.
    /// - Returns: nil where too many wait.
    func matches(_ password: String, _ hash: PasswordHash?) async throws -> Bool? {
        guard places.take() else { return nil }
        defer { places.release() }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async {
                guard let hash = hash ?? Self.nobodys else { return continuation.resume(returning: false) }
                continuation.resume(with: Result { try hash.matches(password) && hash != Self.nobodys })
            }
        }
    }
}
