import Foundation
import Synchronization

/// Lets so many calls run at once; the others wait in their order.
package final class Slots: Sendable {
    private struct State {
        var free: Int
        var waiting: [(id: UUID, continuation: CheckedContinuation<Void, any Error>)] = []
    }

    private let state: Mutex<State>

    package init(count: Int) {
        state = Mutex(State(free: max(1, count)))
    }

    /// - Throws: `CancellationError` where the task is cancelled while it waits; else what `body` throws.
    package func withSlot<Value>(_ body: () async throws -> Value) async throws -> Value {
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                resume { $0.waiting.append((id, continuation)) }
                // It may have been cancelled before it waited.
                if Task.isCancelled { leave(id) }
            }
        } onCancel: {
            leave(id)
        }
        defer { release() }
        return try await body()
    }

    /// Takes a slot without waiting, for as long as ``release()`` is not called.
    /// - Returns: false where none is free.
    package func take() -> Bool {
        state.withLock { state in
            guard state.free > 0 else { return false }
            state.free -= 1
            return true
        }
    }

    package func release() { resume { $0.free += 1 } }

    /// Lets the first that waits go on, where a slot is free after the change.
    private func resume(_ change: (inout State) -> Void) {
        let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            change(&state)
            guard state.free > 0, !state.waiting.isEmpty else { return nil }
            state.free -= 1
            return state.waiting.removeFirst().continuation
        }
        next?.resume()
    }

    private func leave(_ id: UUID) {
        let waiter = state.withLock { state in
            state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0).continuation }
        }
        waiter?.resume(throwing: CancellationError())
    }
}
