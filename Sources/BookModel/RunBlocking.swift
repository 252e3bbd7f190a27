import Dispatch

/// Does blocking work (file I/O) on a thread of its own and waits for it without holding a thread of the cooperative
/// pool. The work is not interrupted by cancellation: it must be short, or look for itself.
package func runBlocking<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
        blockingQueue.async { continuation.resume(with: Result(catching: work)) }
    }
}

private let blockingQueue = DispatchQueue(label: "booksync.blocking", attributes: .concurrent)
