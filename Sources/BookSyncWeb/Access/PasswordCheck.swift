import BookSync
import Dispatch
import Synchronization

/// Compares passwords with the hash, one at a time and on a thread of its own: each takes a tenth of a second and 32 MiB,
/// and whoever listens meanwhile shall not notice.
final class PasswordCheck: Sendable {
    /// Passwords that wait, at most.
    static let greatestQueue = 32

    private let hash: PasswordHash
    private let queue = DispatchQueue(label: "booksync.passwords", qos: .utility)
    private let waiting = Mutex(0)

    init(_ hash: PasswordHash) {
        self.hash = hash
    }

    /// - Returns: whether there is room for one more; then ``matches(_:)`` has to be called.
    func enter() -> Bool {
        waiting.withLock { waiting in
            guard waiting < Self.greatestQueue else { return false }
            waiting += 1
            return true
        }
    }

    private func leave() {
        waiting.withLock { $0 -= 1 }
    }

    func matches(_ password: String) async throws -> Bool {
        defer { leave() }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { [hash] in continuation.resume(with: Result { try hash.matches(password) }) }
        }
    }
}
