import Synchronization

/// Counts the answers that are being given, so that a server that stops can let them come to their end.
final class AnswersUnderWay: Sendable {
    private struct State {
        var count = 0
        var isClosed = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// Stands for one answer until it is released.
    final class Answer: Sendable {
        private let answers: AnswersUnderWay

        fileprivate init(_ answers: AnswersUnderWay) {
            self.answers = answers
        }

        deinit {
            answers.end()
        }
    }

    private let state = Mutex(State())

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// - Returns: nil when no answers are given any more.
    func begin() -> Answer? {
        let isOpen = state.withLock { state in
            if !state.isClosed { state.count += 1 }
            return !state.isClosed
        }
        return isOpen ? Answer(self) : nil
    }

    /// Lets no more answers begin.
    func close() {
        state.withLock { $0.isClosed = true }
    }

    /// Returns once none is being given.
    func ended() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.count > 0 { state.waiters.append(continuation) }
                return state.count == 0
            }
            if isIdle { continuation.resume() }
        }
    }

    private func end() {
        let woken = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in woken { waiter.resume() }
    }
}
