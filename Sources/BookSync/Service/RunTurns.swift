import BookModel

/// Has the runs of several libraries come one after the other, in the order in which they were ready.
package actor RunTurns {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package init() {}

    /// - Throws: what `body` throws. A task that is cancelled takes its turn, too: `body` is to see it.
    nonisolated func taking<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        await take()
        let outcome = await Result.of { try await body() }
        await leave()
        return try outcome.get()
    }

    private func take() async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func leave() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
    }
}
