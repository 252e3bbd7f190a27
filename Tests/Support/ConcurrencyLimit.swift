import Foundation
import Synchronization
import Testing

/// Runs a test only while it holds one of a few slots, whose number follows the machine's cores.
///
/// Swift Testing starts all tests at once. A hundred that open files, start processes, serve or measure time would starve one
/// another of CPU, file descriptors and ports; a test that only computes needs no slot. A parameterised test takes a slot for
/// each case.
package struct ConcurrencyLimit: SuiteTrait, TestTrait, TestScoping {
    /// Whether the current task runs in a slot.
    @TaskLocal private static var isHeld = false
    private static let slots = SlotQueue(count: 3 * ProcessInfo.processInfo.activeProcessorCount + 1)

    package let isRecursive = true
    fileprivate var isFirst = false

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // A suite and a test of it may both ask: one slot serves them.
        guard !Self.isHeld else { return try await function() }
        // The suite's trait comes before that of its test.
        await Self.slots.take(isFirst: isFirst || test.traits.contains { ($0 as? ConcurrencyLimit)?.isFirst == true })
        let begin = ContinuousClock.now
        defer {
            Self.slots.giveBack()
            TestTimes.shared?.record(test, ContinuousClock.now - begin)
        }
        try await Self.$isHeld.withValue(true) { try await function() }
    }

    /// Records an issue where the current test makes files, or starts a process or a server, without holding a slot.
    static func requireSlot(for what: String) {
        guard let test = Test.current, !isHeld else { return }
        Issue.record("'\(test.name)' uses \(what): its suite needs the trait `.limitedConcurrency`")
    }
}

extension Trait where Self == ConcurrencyLimit {
    /// For tests that make files, start processes, serve, or depend on time.
    package static var limitedConcurrency: Self { ConcurrencyLimit() }

    /// The same, for tests that take long, or that run, and ask for slots, one after the other: at the end of the line they would be
    /// the last of all, and alone.
    package static var firstInLine: Self { ConcurrencyLimit(isFirst: true) }
}

/// So many slots, handed out in the order in which they were asked for, but for those that come first.
private final class SlotQueue: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(count: Int) {
        self.state = Mutex(State(free: count))
    }

    func take(isFirst: Bool) async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.insert(continuation, at: isFirst ? 0 : state.waiting.endIndex)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func giveBack() {
        let next: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}
