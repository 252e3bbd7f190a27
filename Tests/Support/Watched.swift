import Synchronization

/// When a test gives up waiting for an event: so late that only a test that hangs meets it, on whatever machine.
package enum HangGuard {
    package static let seconds = 300.0

    /// The end of a wait that begins now.
    package static var deadline: ContinuousClock.Instant { .now + .seconds(seconds) }
}

/// Returns when it is true: for what raises no event that a test could wait on, such as a file that grows. Looks every 5 ms, and less
/// often where a look takes longer: tests share the machine.
/// - Throws: what `isTrue` throws; ``WaitedTooLong`` at the hang guard's end.
package func waitUntil(
    _ condition: String, isolation: isolated (any Actor)? = #isolation, _ isTrue: () async throws -> Bool
) async throws {
    let deadline = HangGuard.deadline
    var begun = ContinuousClock.now
    while try await !isTrue() {
        let now = ContinuousClock.now
        guard now < deadline else { throw WaitedTooLong(seconds: HangGuard.seconds, last: "not that \(condition)") }
        try await Task.sleep(for: max(.milliseconds(5), begun.duration(to: now) * 2))
        begun = .now
    }
}

/// A value that threads and tasks change, and that tests wait on: an event instead of a sleep.
package final class Watched<Value: Sendable>: Sendable {
    private struct Waiter {
        let condition: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Value, any Error>
    }

    private struct State {
        var value: Value
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
    }

    private let state: Mutex<State>

    package init(_ value: Value) {
        self.state = Mutex(State(value: value))
    }

    package var value: Value { state.withLock { $0.value } }

    /// Changes the value and wakes those whose condition now holds.
    @discardableResult
    package func update<Answer: Sendable>(_ change: (inout sending Value) -> Answer) -> Answer {
        let (answer, value, woken) = state.withLock { state in
            var value = state.value
            let answer = change(&value)
            state.value = value
            let woken = state.waiters.filter { $0.value.condition(value) }
            for key in woken.keys { state.waiters[key] = nil }
            return (answer, value, woken.values.map(\.continuation))
        }
        for continuation in woken { continuation.resume(returning: value) }
        return answer
    }

    /// Returns the first value for which the condition holds, the present one included.
    /// - Throws: ``WaitedTooLong`` after so many seconds, `CancellationError` when the task is cancelled.
    @discardableResult
    package func waitUntil(
        within seconds: Double = HangGuard.seconds, _ condition: @escaping @Sendable (Value) -> Bool
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await self.firstValue(where: condition) }
            group.addTask {
                try await Task.sleep(for: .seconds(seconds))
                throw WaitedTooLong(seconds: seconds, last: String(describing: self.value))
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }

    private func firstValue(where condition: @escaping @Sendable (Value) -> Bool) async throws -> Value {
        let key = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let atOnce: Result<Value, any Error>? = state.withLock { state in
                    if condition(state.value) { return .success(state.value) }
                    // The handler below may have run before there was a waiter to wake.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiters[key] = Waiter(condition: condition, continuation: continuation)
                    return nil
                }
                if let atOnce { continuation.resume(with: atOnce) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: key) }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }
}

/// What a test waited for did not happen.
package struct WaitedTooLong: Error, CustomStringConvertible {
    package let seconds: Double
    package let last: String

    package var description: String {
        "nothing of the kind within \(seconds) s; the last state was \(last.prefix(2000))"
    }
}
