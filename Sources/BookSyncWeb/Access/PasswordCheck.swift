import BookSync
import Dispatch
import Settings
import Synchronization

/// Compares passwords with hashes, one at a time and on a thread of its own: each takes a tenth of a second and 32 MiB,
/// and whoever listens meanwhile shall not notice.
final class PasswordCheck: Sendable {
    /// Passwords that wait, at most.
    static let maxQueue = 32

    private let queue = DispatchQueue(label: "booksync.passwords")
    private let waiting = Mutex(0)
    /// Of no password that anybody knows.
    private static let nobodys = PasswordHash(salt: ServeKeys.random(16), hash: ServeKeys.random(32))

    /// - Returns: whether there is room for one more; then ``matches(_:_:)`` has to be called.
    func enter() -> Bool {
        waiting.withLock { waiting in
            guard waiting < Self.maxQueue else { return false }
            waiting += 1
            return true
        }
    }

    private func leave() {
        waiting.withLock { $0 -= 1 }
    }

    /// - Parameter hash: nil for one that nothing matches, which takes as long.
    func matches(_ password: String, _ hash: PasswordHash?) async throws -> Bool {
        defer { leave() }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async {
                guard let hash = hash ?? Self.nobodys else { return continuation.resume(returning: false) }
                continuation.resume(with: Result { try hash.matches(password) && hash != Self.nobodys })
            }
        }
    }
}
