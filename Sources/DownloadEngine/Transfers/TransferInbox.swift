import Synchronization

/// What a run is to fetch, while it becomes known: whoever finds out puts transfers in, and the engine takes them out.
///
/// It stays open as long as somebody is known to bring more, or the engine has something to do; so whoever comes while a
/// run is under way can join it, and is told when it is too late.
package final class TransferInbox: Sendable {
    private struct State {
        var waiting: [TransferRequest] = []
        /// How many are yet to say whether they bring more.
        var holders = 0
        /// Whether the engine has nothing to do.
        var isIdle = true
        var isClosed = false
    }

    private let state = Mutex(State())
    /// Tells the engine to look.
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    package init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Keeps the inbox open until as many calls of ``release(_:)`` are made.
    /// - Returns: false when it is closed already.
    package func hold() -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.holders += 1
            return true
        }
    }

    /// Says of some who hold the inbox open that they bring nothing more.
    package func release(_ count: Int = 1) {
        change { $0.holders -= count }
    }

    package func add(_ requests: [TransferRequest]) {
        state.withLock { $0.waiting += requests }
        signal.yield()
    }

    /// - Returns: what nobody will take out any more.
    package func close() -> [TransferRequest] {
        signal.finish()
        return state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    /// Returns as soon as there is something to take out: true; or when nothing more comes, or the task is cancelled.
    func hasMore() async -> Bool {
        for await _ in signals where !isEmpty { return true }
        return !isEmpty
    }

    private var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }

    /// Takes everything out that has come. From now on the engine has something to do, until it says otherwise.
    func takeAll() -> [TransferRequest] {
        state.withLock { state in
            if !state.waiting.isEmpty { state.isIdle = false }
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    /// Says that the engine has done all that it took out.
    func engineIsIdle() {
        change { $0.isIdle = true }
    }

    private func change(_ change: (inout State) -> Void) {
        let isOver = state.withLock { state in
            change(&state)
            if state.holders == 0, state.isIdle, state.waiting.isEmpty { state.isClosed = true }
            return state.isClosed
        }
        if isOver { signal.finish() }
    }
}
